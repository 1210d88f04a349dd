/** Text on its way to bytes, a piece at a time: what is written lives no longer than until its piece is full. */

/** Characters in a piece. Larger ones fill V8's nursery and are copied out of it, smaller ones cost a write each. */
const PIECE = 16 * 1024;

export class Exposition {
  readonly #pieces: Uint8Array[] = [];
  #text = '';

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= PIECE) this.#cut();
  }

  /** All that was added, in UTF-8. */
  end(): readonly Uint8Array[] {
    this.#cut();
    return this.#pieces;
  }

  #cut(): void {
    if (this.#text !== '') this.#pieces.push(Buffer.from(this.#text));
    this.#text = '';
  }
}
