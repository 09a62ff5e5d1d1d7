// What to do with `Upgrade`. Only a WebSocket handshake becomes a tunnel; anything else (h2c, foo)
// is plain HTTP with the offer ignored (RFC 9110 §7.8). Node hands over every upgrade once there
// is a listener and has no way to decline, so the head is written anew without the offer and read
// again, together with what followed it, by the same parser through the same door.
import type { IncomingMessage } from 'node:http';
import { listMembers, visitFields } from '../../core/http/hop-headers.ts';

const UPGRADE_FIELDS: ReadonlySet<string> = new Set(['upgrade', 'http2-settings']);

/** A bodyless GET that offers exactly `websocket`. */
export function isWebSocketHandshake(request: IncomingMessage): boolean {
  const { headers } = request;
  const hasBody =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return (
    request.method === 'GET' && !hasBody && headers.upgrade?.trim().toLowerCase() === 'websocket'
  );
}

/** The request head, latin1, as one that offers no upgrade. */
export function headWithoutUpgrade(request: IncomingMessage): string {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  visitFields(request.rawHeaders, (name, value, nameAsWritten) => {
    if (UPGRADE_FIELDS.has(name)) return;
    if (name !== 'connection') {
      lines.push(`${nameAsWritten}: ${value}`);
      return;
    }
    const kept = listMembers([value]).filter((token) => !UPGRADE_FIELDS.has(token.toLowerCase()));
    if (kept.length > 0) lines.push(`Connection: ${kept.join(', ')}`);
  });
  return `${lines.join('\r\n')}\r\n\r\n`;
}
