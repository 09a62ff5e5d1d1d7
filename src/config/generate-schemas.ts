// config/*.schema.json for editors, written straight from the schemas that check the files.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TSchema } from 'typebox';
import { gatewayFileSchema, hostsFileSchema } from './schema/files.ts';

const FOLDER = new URL('../../config/', import.meta.url);

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

/** Writes them. */
export function writeSchemas(): void {
  for (const [name, text] of generateSchemas()) {
    writeFileSync(fileURLToPath(new URL(name, FOLDER)), text);
  }
}
