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

/** Far more than a request needs with its prompt; vLLM's bench has a whole run in one line. */
const MOST_CHARACTERS = 32 * 1024 * 1024;

/** Throws an Error that names the line where a record starts that is longer than anything sensible. */
export async function* recordsOf(pieces: AsyncIterable<string>): AsyncGenerator<readonly TraceRecord[]> {
  /** The start of a line whose end is still to come. */
  let tail = '';
  /** The lines so far of a record that a quoted field carries over several. */
  let open = undefined as TraceRecord | undefined;
  let count = 0;
  /** Known from the first line on. */
  let isLinesOfJson: boolean | undefined;

  function take(line: string): TraceRecord | undefined {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    count += 1;
    isLinesOfJson ??= isJson(text);
    const record = open ? { ...open, text: `${open.text}\n${text}` } : { line: count, text };
    // The line that closes a field is the one with an odd number of quotes.
    const isEnded = isLinesOfJson || isWhole(text) === (open === undefined);
    open = isEnded ? undefined : record;
    if (isEnded) return record;
    if (record.text.length > MOST_CHARACTERS) throw tooLong(record.line);
    return undefined;
  }

  for await (const piece of pieces) {
    const [first = '', ...others] = piece.split('\n');
    // Only put together where the line ends: a long one would be copied with each piece.
    tail += first;
    const lines = others.length === 0 ? [] : [tail, ...others.slice(0, -1)];
    tail = others.at(-1) ?? tail;
    const records = lines.flatMap((line) => take(line) ?? []);
    if (tail.length > MOST_CHARACTERS) throw tooLong(open?.line ?? count + 1);
    if (records.length > 0) yield records;
  }
  const last = tail === '' ? undefined : take(tail);
  if (open)
    throw new Error(
      `line ${open.line}: a quote opens here that nothing closes; write a quote inside a field twice`,
    );
  if (last) yield [last];
}

function tooLong(line: number): Error {
  const most = MOST_CHARACTERS.toLocaleString('en');
  return new Error(`line ${line}: longer than ${most} characters; is it a CSV, and is every quote closed?`);
}

/** Whether a line is an object of its own. */
export function isJson(line: string): boolean {
  return /^\s*\{/.test(line);
}

/** Quotes come in pairs, doubled ones too, unless a field goes on in the next line. */
function isWhole(text: string): boolean {
  let whole = true;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) whole = !whole;
  return whole;
}
