// What goes along with a connection from the primary process to a worker, and back when it took it.
import { fieldsOf } from '../../core/records.ts';

export interface ConnectionMessage {
  readonly kind: 'connection';
  readonly port: string;
  readonly id: number;
}

export interface AcceptedMessage {
  readonly kind: 'accepted';
  readonly id: number;
}

/** null: another kind of message. */
export function readConnection(message: unknown): ConnectionMessage | null {
  const { kind, port, id } = fieldsOf(message);
  if (kind !== 'connection' || typeof port !== 'string' || typeof id !== 'number') return null;
  return { kind, port, id };
}

/** The number of the connection; null: another kind of message. */
export function readAccepted(message: unknown): number | null {
  const { kind, id } = fieldsOf(message);
  return kind === 'accepted' && typeof id === 'number' ? id : null;
}
