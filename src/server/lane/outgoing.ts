// What the lane writes to a client: put together in one buffer and written at once, because each
// write costs more than copying a page. The buffers are used again and again; one that a client is
// slow to take is left to it, so there are several sizes: a small answer must not hold a large one.
import type { Socket } from 'node:net';

const SIZES = [8_192, 32_768, 73_728];

/** Used for one answer at a time, from `begin` to `send`, within one turn. */
export class Outgoing {
  /** By size, smallest first. */
  #buffers = SIZES.map((size) => Buffer.allocUnsafeSlow(size));
  #buffer = Buffer.alloc(0);
  #end = 0;
  #client: Socket | null = null;

  /** @param bytesMax what is expected; whatever is more goes out in writes of its own */
  begin(client: Socket, bytesMax: number): void {
    this.#client = client;
    const fitting = this.#buffers.find((buffer) => buffer.length >= bytesMax);
    this.#buffer = fitting ?? this.#buffers.at(-1) ?? this.#buffer;
    this.#end = 0;
  }

  /** @param text latin1 */
  addText(text: string): void {
    if (text.length > this.#buffer.length - this.#end) this.addBytes(Buffer.from(text, 'latin1'));
    else this.#end += this.#buffer.write(text, this.#end, 'latin1');
  }

  /** @param bytes copied */
  addBytes(bytes: Buffer): void {
    let at = bytes.copy(this.#buffer, this.#end);
    this.#end += at;
    while (at < bytes.length) {
      this.send();
      this.#end = bytes.copy(this.#buffer, 0, at);
      at += this.#end;
    }
  }

  /** Writes what was added, if anything was. */
  send(): void {
    if (this.#client === null || this.#end === 0) return;
    const sent = this.#buffer;
    this.#client.write(sent.subarray(0, this.#end));
    this.#end = 0;
    if (this.#client.writableLength === 0) return;
    // The system hasn't taken all of it: what waits must not be written over.
    this.#buffer = Buffer.allocUnsafeSlow(sent.length);
    this.#buffers = this.#buffers.map((buffer) => (buffer === sent ? this.#buffer : buffer));
  }
}
