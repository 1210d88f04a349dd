/**
 * The text of a scrape as bytes, in memory that the next scrape uses again. Megabytes of new buffers at each one made
 * V8 collect its whole heap at every twelfth, which took longer than the scrape.
 */

/** Characters that are gathered before they become bytes: few enough to die in V8's nursery. */
const PIECE = 16 * 1024;
/** UTF-8 needs no more for one UTF-16 code unit. */
const BYTES_PER_CHARACTER = 3;

export class Exposition {
  #memory: Buffer;
  #length = 0;
  #text = '';

  /** `memory` may be written over, and is replaced by a larger one where it does not suffice. */
  constructor(memory: Buffer = Buffer.allocUnsafeSlow(BYTES_PER_CHARACTER * PIECE)) {
    this.#memory = memory;
  }

  /** For another exposition, once nobody reads the bytes of this one any more. */
  get memory(): Buffer {
    return this.#memory;
  }

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= PIECE) this.#encode();
  }

  /** All that was added, in UTF-8. */
  bytes(): Uint8Array {
    this.#encode();
    return this.#memory.subarray(0, this.#length);
  }

  #encode(): void {
    const needed = this.#length + BYTES_PER_CHARACTER * this.#text.length;
    if (needed > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(2 * needed);
      this.#memory.copy(larger, 0, 0, this.#length);
      this.#memory = larger;
    }
    this.#length += this.#memory.write(this.#text, this.#length);
    this.#text = '';
  }
}
