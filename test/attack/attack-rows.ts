// Runs one table of attack cases (raw request bytes, what must come back, what may reach the origin)
// against a real gateway and a recording origin. After every row a plain request is sent: only when
// the origin has seen that one is it known what else it has seen.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerLimits } from '../../src/config/settings.ts';
import { type BypassGateway, startBypassGateway } from '../helpers/bypass-gateway.ts';
import { hasAnswers, type RawReply, sendRaw, splitAnswers } from '../helpers/raw-client.ts';
import { type RawOrigin, type RawRequest, startRawOrigin } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';

export interface AttackRow {
  readonly id: string;
  /** Raw request bytes, latin1. */
  readonly bytes: string;
  /** The final answers in order; an inner list is any-of. */
  readonly statuses: readonly (number | readonly number[])[];
  /** Requests that reach the origin. */
  readonly forwarded: number;
  /** What else must hold for the requests the origin saw and the reply. */
  readonly check?: (requests: readonly RawRequest[], reply: RawReply) => void;
}

/** Refused: one of these statuses, the connection closed, nothing forwarded. */
export function refused(id: string, bytes: string, ...statuses: readonly number[]): AttackRow {
  return { id, bytes, statuses: [statuses.length === 0 ? 400 : statuses], forwarded: 0 };
}

/** Taken: 200, forwarded once. */
export function accepted(id: string, bytes: string, check?: AttackRow['check']): AttackRow {
  const row = { id, bytes, statuses: [200], forwarded: 1 };
  return check === undefined ? row : { ...row, check };
}

/** `POST /p` with these header lines and body, for the rows that differ only there. */
export function post(lines: string, body: string, version = '1.1'): string {
  return `POST /p HTTP/${version}\r\nHost: good.example\r\n${lines}\r\n\r\n${body}`;
}

/** `GET` of a target with these further header lines. */
export function get(target = '/g', lines = ''): string {
  return `GET ${target} HTTP/1.1\r\nHost: good.example\r\n${lines === '' ? '' : `${lines}\r\n`}\r\n`;
}

const SENTINEL = '/attack-row-is-over';

/** Declares one test a row. */
export function testAttackRows(
  group: string,
  rows: readonly AttackRow[],
  limits: Partial<ServerLimits> = {},
): void {
  describe(`attack cases: ${group}`, () => {
    let origin: RawOrigin;
    let gateway: BypassGateway;
    beforeAll(async () => {
      origin = await startRawOrigin();
      gateway = await startBypassGateway({ originUrl: origin.url, limits });
    });
    afterAll(async () => {
      await gateway.close();
      await origin.close();
    });

    it.each(rows)('$id', async (row) => {
      const before = origin.requests.length;
      const refusals = gateway.refused.length;
      const isRefused = row.forwarded === 0 && !row.statuses.includes(421);
      const options = isRefused ? {} : { until: hasAnswers(row.statuses.length) };
      const reply = await sendRaw(gateway.port, row.bytes, options);
      const answers = splitAnswers(reply.text);
      expect(answers.map(({ status }) => status)).toHaveLength(row.statuses.length);
      row.statuses.forEach((status, index) => {
        expect([status].flat()).toContain(answers[index]?.status);
      });
      if (isRefused) {
        expect(answers[0]?.head).toMatch(/\r\nConnection: close/i);
        expect(reply.end).not.toBe('open');
        expect(gateway.refused.length).toBe(refusals + 1);
      }
      await sendRaw(gateway.port, get(SENTINEL), { until: hasAnswers(1) });
      await waitUntil('the sentinel', () => origin.requests.at(-1)?.target === SENTINEL);
      const seen = origin.requests.slice(before, -1);
      expect(seen).toHaveLength(row.forwarded);
      row.check?.(seen, reply);
    });
  });
}
