// A lane between a socket and Node's parser: it is shown each chunk that may hold a whole request,
// answers what it can, and leaves the rest to the parser, byte for byte. While an answer of the
// lane is on its way, what the client sends waits.
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import {
  type Connection,
  type ConnectionLane,
  connectionOf,
  inspectChunk,
  isBusy,
} from './connection.ts';

/** One chunk that may be answered. The same object for all of a connection. */
export interface LaneTurn {
  readonly socket: Socket;
  readonly chunk: Buffer;
  /** Whether the connection goes on behind this answer. */
  readonly keepsAlive: () => boolean;
  /** @param listener called when the client is gone; null: nobody wants to know any more */
  readonly onGone: (listener: (() => void) | null) => void;
  /** The answer is written: the next request may come. */
  readonly end: () => void;
  /** Nothing was written, and somebody else has to answer. */
  readonly leave: () => void;
}

/** `answering`: `end` or `leave` is called later. `left`: nothing was done. */
export type TakeTurn = (turn: LaneTurn) => 'answered' | 'answering' | 'left';

/** What a client may send while it is answered, before its socket is left alone. */
const HELD_BYTES_MAX = 65_536;
/** And for how long: nobody can tell whether a client is still there whose socket is not read. */
const PAUSE_MS_MAX = 5_000;
const CHECKS_PER_TIMEOUT = 8;
const NOTHING: Buffer = Buffer.alloc(0);
const CR = 13;
const LF = 10;

export interface LaneOptions {
  readonly take: TakeTurn;
  /** Ends a connection that is silent behind an answer of the lane. */
  readonly keepAliveTimeoutMs: number;
}

/** Puts lanes on the connections of a server; Node has to listen to them already. */
export function createLanes(
  server: EventEmitter,
  { take, keepAliveTimeoutMs }: LaneOptions,
): (socket: Socket) => void {
  /** Since when those are silent that Node doesn't mind. */
  const silent = new Map<Socket, number>();
  const timer = setInterval(() => {
    const latest = performance.now() - keepAliveTimeoutMs;
    for (const [socket, since] of silent) if (since <= latest) socket.destroy();
  }, keepAliveTimeoutMs / CHECKS_PER_TIMEOUT).unref();
  server.once('close', () => clearInterval(timer));
  const silence: Silence = {
    begin: (socket) => void silent.set(socket, performance.now()),
    end: (socket) => void silent.delete(socket),
  };
  return (socket) => {
    const connection = connectionOf(socket);
    // A socket that is handed over anew has new listeners of Node's.
    if (connection.lane === null) {
      socket.once('close', () => {
        silent.delete(socket);
        connection.lane?.endClient();
      });
    }
    const parsers = socket.listeners('data').filter((listener) => listener !== connection.onData);
    for (const parser of parsers) socket.removeListener('data', parser as () => void);
    const parse = (chunk: Buffer): void => {
      inspectChunk(connection, chunk);
      for (const parser of parsers) parser.call(socket, chunk);
    };
    connection.lane = new Lane({ socket, connection, take, parse, silence });
  };
}

interface Silence {
  readonly begin: (socket: Socket) => void;
  readonly end: (socket: Socket) => void;
}

interface LaneParts {
  readonly socket: Socket;
  readonly connection: Connection;
  readonly take: TakeTurn;
  readonly parse: (chunk: Buffer) => void;
  readonly silence: Silence;
}

/** The lane of one connection. */
class Lane implements ConnectionLane {
  readonly #parts: LaneParts;
  readonly #turn: LaneTurn & { chunk: Buffer };
  #isOpen = true;
  #isAnswering = false;
  #isOnlyReader = false;
  /** The last answer of the connection has been written: nothing behind it is anybody's. */
  #isOver = false;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #pause: NodeJS.Timeout | null = null;
  #onGone: (() => void) | null = null;

  constructor(parts: LaneParts) {
    this.#parts = parts;
    this.#turn = {
      socket: parts.socket,
      chunk: NOTHING,
      // What has been asked already is still answered.
      keepsAlive: () => this.#isOpen || this.#held.length > 0,
      onGone: (listener) => {
        this.#onGone = listener;
      },
      end: () => {
        this.#isAnswering = false;
        this.#isOver = !parts.socket.writable;
        this.#rest();
        this.#goOn();
      },
      leave: () => {
        this.#isAnswering = false;
        this.#leave(this.#turn.chunk);
        this.#goOn();
      },
    };
  }

  close(): void {
    this.#isOpen = false;
  }

  endClient(): void {
    this.#onGone?.();
  }

  isAnswering(): boolean {
    return this.#isAnswering;
  }

  isOnlyReader(): boolean {
    return this.#isOnlyReader;
  }

  read(chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#isAnswering) {
      this.#hold(chunk);
      return;
    }
    const taken = this.#show(chunk);
    if (taken === 'left') this.#leave(chunk);
    else if (taken === 'answered') this.#rest();
    else if (this.#isAnswering) this.#stopTimers();
  }

  #show(chunk: Buffer): ReturnType<TakeTurn> {
    const { connection, take } = this.#parts;
    if (!this.#isOpen || connection.isClosing || !isBetweenRequests(connection)) return 'left';
    this.#turn.chunk = chunk;
    // Already now: `end` may be called before `take` returns.
    this.#isAnswering = true;
    const taken = take(this.#turn);
    if (taken !== 'answering') this.#isAnswering = false;
    return taken;
  }

  #leave(chunk: Buffer): void {
    const { socket, parse, silence } = this.#parts;
    // Blank lines begin nothing that Node would mind.
    if (!isBlank(chunk)) {
      silence.end(socket);
      this.#isOnlyReader = false;
    }
    parse(chunk);
  }

  /** Node's own timer minds the silence when it saw the last request. */
  #rest(): void {
    const { socket, silence } = this.#parts;
    this.#isOnlyReader = true;
    if (!socket.timeout && !socket.destroyed) silence.begin(socket);
  }

  /** What Node set behind its last answer would end this one. */
  #stopTimers(): void {
    const { socket, silence } = this.#parts;
    silence.end(socket);
    if (socket.timeout) socket.setTimeout(0);
  }

  #hold(chunk: Buffer): void {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    const { socket } = this.#parts;
    if (this.#heldBytes <= HELD_BYTES_MAX || socket.isPaused()) return;
    socket.pause();
    this.#pause = setTimeout(() => void socket.destroy(), PAUSE_MS_MAX).unref();
  }

  /** What came meanwhile. */
  #goOn(): void {
    const { socket } = this.#parts;
    if (this.#held.length === 0 || socket.destroyed) return;
    const chunk = Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    if (this.#pause !== null) clearTimeout(this.#pause);
    this.#pause = null;
    if (socket.isPaused()) socket.resume();
    this.read(chunk);
  }
}

function isBlank(chunk: Buffer): boolean {
  return chunk.every((byte) => byte === CR || byte === LF);
}

/** Node's parser is inside of nothing, and all that it has read is answered. */
function isBetweenRequests(connection: Connection): boolean {
  return !isBusy(connection) && connection.newest?.request.complete !== false;
}
