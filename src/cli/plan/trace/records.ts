/**
 * Records of a CSV (RFC 4180), or lines of JSON, from the pieces of a stream: as many at a time as one read of the file
 * brought, each with the line it starts on. Bounded: a line or a quoted field that never ends is an error, not all of
 * memory.
 */

export interface TraceRecord {
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
}

/** Far more than the numbers of a request, or even its prompt, need. */
const MOST_CHARACTERS = 4 * 1024 * 1024;

/** Throws an Error that names the line where a record starts that is longer than anything sensible. */
export async function* recordsOf(pieces: AsyncIterable<string>): AsyncGenerator<readonly TraceRecord[]> {
  const splitter = new RecordSplitter();
  for await (const piece of pieces) {
    const records = splitter.split(piece);
    if (records.length > 0) yield records;
  }
  const last = splitter.end();
  if (last.length > 0) yield last;
}

class RecordSplitter {
  /** The start of a line whose end is still to come. */
  #tail = '';
  /** The lines so far of a record that a quoted field carries over several. */
  #open: string | undefined;
  #openLine = 0;
  #line = 0;
  /** Known from the first line on. */
  #isJson: boolean | undefined;

  split(piece: string): TraceRecord[] {
    const lines = (this.#tail + piece).split('\n');
    this.#tail = lines.pop() ?? '';
    const records: TraceRecord[] = [];
    for (const line of lines) this.#take(line, records);
    if (this.#tail.length > MOST_CHARACTERS) throw this.#tooLong(this.#open === undefined ? 1 : 0);
    return records;
  }

  end(): TraceRecord[] {
    const records: TraceRecord[] = [];
    if (this.#tail !== '') this.#take(this.#tail, records);
    if (this.#open !== undefined) {
      throw new Error(
        `line ${this.#openLine}: a quote opens here that nothing closes; write a quote inside a field twice`,
      );
    }
    return records;
  }

  #take(line: string, records: TraceRecord[]): void {
    this.#line += 1;
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    this.#isJson ??= isJson(text);
    if (this.#open === undefined) {
      if (this.#isJson || isWhole(text)) records.push({ line: this.#line, text });
      else [this.#open, this.#openLine] = [text, this.#line];
      return;
    }
    this.#open += `\n${text}`;
    if (this.#open.length > MOST_CHARACTERS) throw this.#tooLong(0);
    // The line that closes the field is the one with an odd number of quotes.
    if (isWhole(text)) return;
    records.push({ line: this.#openLine, text: this.#open });
    this.#open = undefined;
  }

  #tooLong(linesOn: 0 | 1): Error {
    const line = linesOn === 1 ? this.#line + 1 : this.#openLine;
    return new Error(
      `line ${line}: longer than ${MOST_CHARACTERS.toLocaleString('en')} characters; is it a CSV, and is every quote closed?`,
    );
  }
}

/** Whether a line is an object of its own. */
export function isJson(line: string): boolean {
  return /^\uFEFF?\s*\{/.test(line);
}

/** Quotes come in pairs, doubled ones too, unless a field goes on in the next line. */
function isWhole(text: string): boolean {
  let whole = true;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) whole = !whole;
  return whole;
}
