// `npm run bench:trouble`: everything that can happen to a Redis, under load, with two gateways on
// it: what clients noticed, as a table.
import { REDIS_SCENES } from './redis-scenes.ts';
import { type PartFigures, runScene, type SceneFigures } from './run-scene.ts';

const PLAN = { gateways: 2, perSecond: 400, partMs: 5_000 };

const wanted = process.argv.slice(2);
const rows: string[][] = [];
for (const [name, open] of Object.entries(REDIS_SCENES)) {
  if (wanted.length > 0 && !wanted.some((word) => name.includes(word))) continue;
  const figures = await runScene(await open(), PLAN);
  rows.push(describe(name, figures));
  for (const flaw of flawsOf(figures).slice(0, 10)) console.log(`${name}: ${flaw}`);
}
const head = ['trouble', 'requests', '5xx', 'wrong', 'failed', 'p99 before / during / after, ms'];
printTable([[...head, 'longest', 'hits before / during / after', 'recovered after, ms'], ...rows]);

function describe(name: string, figures: SceneFigures): string[] {
  const { before, during, after, serverErrors, wrong, failures, recoveredMs } = figures;
  const parts = [before, during, after];
  const each = (read: (part: PartFigures) => string): string => parts.map(read).join(' / ');
  return [
    name,
    String(parts.reduce((sum, { requests }) => sum + requests, 0)),
    String(serverErrors.length),
    String(wrong.length),
    String(failures.length),
    each(({ p99Ms }) => p99Ms.toFixed(0)),
    Math.max(...parts.map(({ maxMs }) => maxMs)).toFixed(0),
    each(({ hitShare }) => `${(hitShare * 100).toFixed(0)} %`),
    recoveredMs === null ? 'not yet' : recoveredMs.toFixed(0),
  ];
}

function flawsOf({ serverErrors, wrong, failures }: SceneFigures): readonly string[] {
  return [...serverErrors, ...wrong, ...failures];
}

function printTable(table: readonly (readonly string[])[]): void {
  for (const [index, row] of table.entries()) {
    console.log(`| ${row.join(' | ')} |`);
    if (index === 0) console.log(`|${row.map(() => '---').join('|')}|`);
  }
}
