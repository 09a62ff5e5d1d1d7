// What the door remembers about one connection: its newest exchange, whether a request line on it
// was ambiguous, and whether it is being closed. Kept beside the socket, never on it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { inspectRequestLines } from './inspect-request-line.ts';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface Connection {
  newest: Exchange | null;
  hasLooseRequestLine: boolean;
  isClosing: boolean;
  /** The rest of a message head comes in the next chunk. */
  isInsideHead: boolean;
  /** The bytes of a request line that is not complete yet. */
  unfinishedLine: Buffer | null;
  /** Answers what it can before Node's parser sees it; null: nothing does. */
  lane: Lane | null;
  readonly onData: (chunk: Buffer) => void;
}

/** What answers requests from their bytes. */
export type TakeChunk = (socket: Socket, chunk: Buffer) => boolean;

interface Lane {
  readonly take: (chunk: Buffer) => boolean;
  /** false: every request goes to Node's parser. */
  isOpen: boolean;
  /** Node's parser, which gets the rest. */
  readonly parse: (chunk: Buffer) => void;
  /** The silence that ends the connection is counted by us, not by Node, which saw no request. */
  isTimed: boolean;
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
    onData: (chunk) => readChunk(connection, chunk),
  };
  connections.set(socket, connection);
  return connection;
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

/**
 * Puts a lane between the socket and Node's parser, which reads on only what the lane leaves it. To
 * be called when Node has begun to listen to the socket.
 *
 * @param keepAliveTimeoutMs ends a connection that is silent behind an answer of the lane
 */
export function interposeLane(socket: Socket, take: TakeChunk, keepAliveTimeoutMs: number): void {
  const connection = connectionOf(socket);
  const parsers = socket.listeners('data').filter((listener) => listener !== connection.onData);
  for (const parser of parsers) socket.removeListener('data', parser as () => void);
  const lane: Lane = {
    isOpen: true,
    take: (chunk) => {
      if (!take(socket, chunk)) return false;
      if (!socket.timeout) {
        socket.setTimeout(keepAliveTimeoutMs);
        lane.isTimed = true;
      }
      return true;
    },
    parse: (chunk) => {
      // From here on Node minds the time.
      if (lane.isTimed) socket.setTimeout(0);
      lane.isTimed = false;
      for (const parser of parsers) parser.call(socket, chunk);
    },
    isTimed: false,
  };
  connection.lane = lane;
}

/** What comes from now on is the pipeline's: it knows that the server is about to end. */
export function closeLane(socket: Duplex): void {
  const { lane } = connectionOf(socket);
  if (lane !== null) lane.isOpen = false;
}

/** Stops looking: the socket is no longer read as HTTP by this server. */
export function ignoreConnection(socket: Duplex): void {
  socket.removeListener('data', connectionOf(socket).onData);
}

/** Notes the request whose head has just been parsed. */
export function beginExchange(exchange: Exchange): Connection {
  const connection = connectionOf(exchange.request.socket);
  connection.newest = exchange;
  connection.isInsideHead = false;
  return connection;
}

/** The exchange whose answer is not written yet, or null. */
export function pendingExchange(connection: Connection): Exchange | null {
  const { newest } = connection;
  return newest === null || newest.response.writableFinished ? null : newest;
}

/** Whether a request is on its way in, or its answer on its way out. */
export function isBusy(connection: Connection): boolean {
  const { isInsideHead, unfinishedLine } = connection;
  return pendingExchange(connection) !== null || isInsideHead || (unfinishedLine?.length ?? 0) > 0;
}

function readChunk(connection: Connection, chunk: Buffer): void {
  const { lane, newest, isClosing } = connection;
  if (lane === null) {
    inspectChunk(connection, chunk);
    return;
  }
  const isFree =
    lane.isOpen &&
    !isClosing &&
    !isBusy(connection) &&
    (newest === null || newest.request.complete);
  if (isFree && lane.take(chunk)) return;
  inspectChunk(connection, chunk);
  lane.parse(chunk);
}

function inspectChunk(connection: Connection, chunk: Buffer): void {
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
