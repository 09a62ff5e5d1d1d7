// config/*.schema.json for editors, straight from the schemas that check the files. A test keeps
// them up to date: `npx vitest run test/config/shipped-files.test.ts -u` writes them anew.
import type { TSchema } from 'typebox';
import { gatewayFileSchema, hostsFileSchema } from './schema/files.ts';

const FILES: Readonly<Record<string, TSchema>> = {
  'edge-gateway.schema.json': gatewayFileSchema,
  'hosts.schema.json': hostsFileSchema,
};

/** File name → its text, as it must stand in config/. */
export function generateSchemas(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(FILES).map(([name, schema]) => {
      const head = { $schema: 'https://json-schema.org/draft/2020-12/schema' };
      return [name, `${JSON.stringify({ ...head, ...schema }, null, 2)}\n`] as const;
    }),
  );
}
