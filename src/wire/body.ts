/** The body of a request or an answer, as it arrives in pieces: what a peer sends is kept up to a bound. */

/** `code` of the error about a body that is larger than its bound. */
export const BODY_TOO_LARGE = 'ERR_BODY_TOO_LARGE';

export class BoundedBody {
  readonly #maxBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** False where the body is larger than the bound: this piece, and all that follow it, are left out. */
  add(chunk: Uint8Array): boolean {
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) return false;
    this.#chunks.push(chunk);
    return true;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

/** Reads a stream to its end, or until it passes `maxBytes`: then it is destroyed, and `complete` is false. */
export async function readBody(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly bytes: Buffer; readonly complete: boolean }> {
  const body = new BoundedBody(maxBytes);
  for await (const chunk of stream) {
    if (!body.add(chunk)) return { bytes: body.bytes(), complete: false };
  }
  return { bytes: body.bytes(), complete: true };
}
