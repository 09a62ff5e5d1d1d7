// What the door remembers about one connection: its newest request, whether a request line on it
// was ambiguous, and whether it is being closed. Kept beside the socket, never on it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { inspectRequestLines } from './inspect-request-line.ts';

/** A request whose head has been parsed, with its answer. */
export interface DoorRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** What may answer before Node's parser reads: see lane.ts. */
export interface ConnectionLane {
  readonly read: (chunk: Buffer) => void;
  /** The server is about to end: what comes now is the pipeline's, which knows of it. */
  readonly close: () => void;
  /** The client is gone. */
  readonly endClient: () => void;
  readonly isAnswering: () => boolean;
  /** The lane has answered, and Node's parser has seen nothing since. */
  readonly isOnlyReader: () => boolean;
}

export interface Connection {
  newest: DoorRequest | null;
  hasLooseRequestLine: boolean;
  isClosing: boolean;
  /** The rest of a message head comes in the next chunk. */
  isInsideHead: boolean;
  /** The bytes of a request line that is not complete yet. */
  unfinishedLine: Buffer | null;
  /** Answers what it can before Node's parser sees it; null: nothing does. */
  lane: ConnectionLane | null;
  readonly onData: (chunk: Buffer) => void;
}

/** A request line longer than any head can be is for the parser to refuse. */
const LINE_BYTES_MAX = 16_384;

const connections = new WeakMap<Duplex, Connection>();

/** The connection record of a socket, made when it is first asked for. */
export function connectionOf(socket: Duplex): Connection {
  const known = connections.get(socket);
  if (known !== undefined) return known;
  const connection: Connection = {
    newest: null,
    hasLooseRequestLine: false,
    isClosing: false,
    isInsideHead: false,
    unfinishedLine: null,
    lane: null,
    onData: (chunk) => {
      if (connection.lane === null) inspectChunk(connection, chunk);
      else connection.lane.read(chunk);
    },
  };
  connections.set(socket, connection);
  return connection;
}

/** Node remembers an address once it was asked for; of a client that has left it knows none. */
export function keepPeerAddress(socket: Socket): string | undefined {
  return socket.remoteAddress;
}

/**
 * Starts looking at the bytes of a socket, before the parser sees them. Called again when a socket
 * is handed to the server anew: only adding the listener makes Node's parser read from JS.
 */
export function inspectConnection(socket: Duplex): void {
  const connection = connectionOf(socket);
  socket.removeListener('data', connection.onData);
  socket.prependListener('data', connection.onData);
}

/** Stops looking: the socket is no longer read as HTTP by this server. */
export function ignoreConnection(socket: Duplex): void {
  socket.removeListener('data', connectionOf(socket).onData);
}

/** Notes the request whose head has just been parsed. */
export function beginRequest(pair: DoorRequest): Connection {
  const connection = connectionOf(pair.request.socket);
  connection.newest = pair;
  connection.isInsideHead = false;
  return connection;
}

/** The request whose answer is not written yet, or null. */
export function pendingRequest(connection: Connection): DoorRequest | null {
  const { newest } = connection;
  return newest === null || newest.response.writableFinished ? null : newest;
}

/** Whether a request is on its way in, or its answer on its way out. */
export function isBusy(connection: Connection): boolean {
  const { isInsideHead, unfinishedLine, lane } = connection;
  const isReading = isInsideHead || (unfinishedLine?.length ?? 0) > 0;
  return isReading || pendingRequest(connection) !== null || lane?.isAnswering() === true;
}

/** Looks at a chunk that Node's parser is about to read. */
export function inspectChunk(connection: Connection, chunk: Buffer): void {
  if (connection.isInsideHead) return;
  if (connection.newest !== null && !connection.newest.request.complete) return;
  const { unfinishedLine } = connection;
  const bytes = unfinishedLine === null ? chunk : Buffer.concat([unfinishedLine, chunk]);
  const inspection = inspectRequestLines(bytes);
  if (inspection.isLoose) connection.hasLooseRequestLine = true;
  connection.isInsideHead = inspection.stoppedIn === 'head';
  const rest = inspection.stoppedIn === 'request_line' ? bytes.subarray(inspection.offset) : null;
  connection.unfinishedLine = rest !== null && rest.length <= LINE_BYTES_MAX ? rest : null;
}
