export const BODY_TOO_LARGE = 'ERR_BODY_TOO_LARGE';

export class BoundedBody {
  readonly #maxBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** False if the body exceeds the bound: this piece and all later ones are dropped. */
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

/** `complete` is false if the stream passes `maxBytes`; then it is destroyed. */
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
