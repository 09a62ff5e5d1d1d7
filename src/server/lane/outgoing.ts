// What the lane writes to a client: put together in one buffer and written at once, because each
// write costs more than copying a page. The buffer is used again and again.
import type { Socket } from 'node:net';

/** Of the lane's buffer: what is longer is written in pieces. */
const BUFFER_BYTES = 98_304;

/** Used for one answer at a time, from `begin` to `send`, within one turn. */
export class Outgoing {
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #end = 0;
  #client: Socket | null = null;

  begin(client: Socket): void {
    this.#client = client;
    this.#end = 0;
  }

  /** @param text latin1 */
  addText(text: string): void {
    if (text.length > this.#left()) {
      this.addBytes(Buffer.from(text, 'latin1'));
      return;
    }
    this.#end += this.#buffer.write(text, this.#end, 'latin1');
  }

  /** @param bytes copied */
  addBytes(bytes: Buffer): void {
    let at = 0;
    while (bytes.length - at > this.#left()) {
      at += bytes.copy(this.#buffer, this.#end, at);
      this.#end = BUFFER_BYTES;
      this.send();
    }
    this.#end += bytes.copy(this.#buffer, this.#end, at);
  }

  send(): void {
    if (this.#client === null || this.#end === 0) return;
    this.#client.write(this.#buffer.subarray(0, this.#end));
    this.#end = 0;
    // The system hasn't taken all of it: what waits must not be written over.
    if (this.#client.writableLength > 0) this.#buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  }

  #left(): number {
    return BUFFER_BYTES - this.#end;
  }
}
