/**
 * ASCII text that is the same for thousands of ids but for the id, as bytes. To add strings for each of them left three
 * times the text of a scrape behind for V8 to collect, which took as long as the rest of the scrape.
 */

interface Cut {
  /** The text, with gaps as long as the id. */
  readonly bytes: Uint8Array;
  /** Where the gaps begin. */
  readonly gaps: readonly number[];
}

export class Stencil {
  readonly #parts: readonly string[];
  /** By length of the id. */
  readonly #cuts: Cut[] = [];

  /** The id is to stand between each two of `parts`. */
  constructor(parts: readonly string[]) {
    this.#parts = parts;
  }

  /** How many bytes it is with an id of so many. */
  length(idLength: number): number {
    return this.#cut(idLength).bytes.length;
  }

  /** Writes the text with an id of ASCII characters into `memory`, where there is room for it. */
  write(id: string, memory: Uint8Array, at: number): void {
    const { bytes, gaps } = this.#cut(id.length);
    memory.set(bytes, at);
    for (let index = 0; index < id.length; index += 1) {
      const character = id.charCodeAt(index);
      for (const gap of gaps) memory[at + gap + index] = character;
    }
  }

  #cut(idLength: number): Cut {
    return (this.#cuts[idLength] ??= cut(this.#parts, idLength));
  }
}

function cut(parts: readonly string[], idLength: number): Cut {
  const gaps: number[] = [];
  let end = 0;
  for (const part of parts.slice(0, -1)) {
    gaps.push(end + part.length);
    end += part.length + idLength;
  }
  return { bytes: Buffer.from(parts.join(' '.repeat(idLength)), 'latin1'), gaps };
}
