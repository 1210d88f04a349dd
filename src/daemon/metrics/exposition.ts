/**
 * The text of a scrape as bytes, in memory that the next scrape uses again. Megabytes of new buffers at each one made
 * V8 collect its whole heap at every twelfth, which took longer than the scrape.
 */
import type { Stencil } from './stencil.ts';

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

  /** Adds the stencil's text with an id of ASCII characters. */
  addStencilled(stencil: Stencil, id: string): void {
    this.#encode();
    const length = stencil.length(id.length);
    this.#reserve(length);
    stencil.write(id, this.#memory, this.#length);
    this.#length += length;
  }

  /** Adds few ASCII characters. */
  addShort(text: string): void {
    this.#encode();
    this.#reserve(text.length);
    for (let index = 0; index < text.length; index += 1)
      this.#memory[this.#length + index] = text.charCodeAt(index);
    this.#length += text.length;
  }

  /** All that was added, in UTF-8. */
  bytes(): Uint8Array {
    this.#encode();
    return this.#memory.subarray(0, this.#length);
  }

  #encode(): void {
    if (this.#text === '') return;
    this.#reserve(BYTES_PER_CHARACTER * this.#text.length);
    this.#length += this.#memory.write(this.#text, this.#length);
    this.#text = '';
  }

  #reserve(length: number): void {
    const needed = this.#length + length;
    if (needed <= this.#memory.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * needed);
    this.#memory.copy(larger, 0, 0, this.#length);
    this.#memory = larger;
  }
}
