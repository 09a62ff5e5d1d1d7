// `npm run test:http-cache`: the public suite http-cache-tests against a gateway that caches what it
// does not render, with what passes and what does not. Ends by itself, after about a minute.
import { measureSuite } from './measure-suite.ts';

const { counts, failures } = await measureSuite();
for (const { id, kind, verdict, detail } of failures) {
  process.stdout.write(`${kind.padEnd(9)} ${verdict.padEnd(16)} ${id}  ${detail}\n`);
}
process.stdout.write(`${counts.required} required, ${counts.optimal} optimal pass\n`);
