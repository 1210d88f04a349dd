/** What is right, with something wrong in it: made-up input begins as an example that is accepted. */
import * as fc from '../fast-check.ts';

const ODD: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, -0, 0.1, 1e308, 2 ** 53, '', ' ', 'NaN', '-1', '1e999'),
  fc.constantFrom<unknown>(
    [],
    {},
    [[]],
    '\u0000',
    '\ud800',
    '__proto__',
    'constructor',
    '\u202e',
    '</script>',
  ),
  fc.constantFrom('x', '\n', '9', '"').map((each) => each.repeat(50_000)),
  fc.jsonValue({ maxDepth: 3 }),
);
const NAMES = fc.constantFrom('id', 'error', 'success', 'ttl', '__proto__', 'toString', 'length', 'then', '');

const wound = fc.weighted(
  [4, fc.tagged('replace', { at: fc.nat(), value: ODD })],
  [2, fc.tagged('drop', { at: fc.nat() })],
  [2, fc.tagged('add', { at: fc.nat(), name: NAMES, value: ODD })],
  [1, fc.tagged('many', { at: fc.nat(), count: fc.integer({ min: 2, max: 2_000 }) })],
  [1, fc.tagged('nest', { at: fc.nat(), depth: fc.integer({ min: 1, max: 500 }) })],
);
type Wound = typeof wound extends fc.Arbitrary<infer One> ? One : never;

/** A JSON value with one to three things wrong in it. */
function damagedJson(value: unknown): fc.Arbitrary<unknown> {
  return fc.array(wound, { minLength: 1, maxLength: 3 }).map((wounds) => wounds.reduce(inflicted, value));
}

/** As text, or with one value nested deeper than recursion goes. */
export function damagedJsonText(value: unknown): fc.Arbitrary<string> {
  const text = JSON.stringify(value);
  const values = Array.from(text.matchAll(/(?<=[:,[])(?:"[^"]*"|[\d.]+)(?=[,\]}])/g));
  const deep = fc.tuple(fc.nat(), fc.integer({ min: 1, max: 200_000 })).map(([at, depth]) => {
    const { index = 0, 0: found = text } = values[at % Math.max(1, values.length)] ?? {};
    const nested = '['.repeat(depth) + found + ']'.repeat(depth);
    return text.slice(0, index) + nested + text.slice(index + found.length);
  });
  return fc.weighted([9, damagedJson(value).map((wrong) => JSON.stringify(wrong) ?? '')], [1, deep]);
}

/** Members are set as JSON.parse sets them: `__proto__` is a name like others. */
function withMember(holder: object, name: string, value: unknown): object {
  return Object.defineProperty({ ...holder }, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

function inflicted(value: unknown, one: Wound): unknown {
  const places = placesIn(value);
  const path = places[one.at % places.length] ?? [];
  return changedAt(value, path, (there) => {
    switch (one.kind) {
      case 'replace':
        return one.value;
      case 'drop':
        return undefined;
      case 'add':
        return typeof there === 'object' && there !== null && !Array.isArray(there)
          ? withMember(there, one.name, one.value)
          : one.value;
      case 'many':
        return Array.isArray(there) && JSON.stringify(there).length < 2_000
          ? Array.from({ length: one.count }, (): unknown => there[0]).concat(there)
          : [there, there];
      case 'nest':
        return Array.from({ length: one.depth }).reduce((inner) => [inner], there);
    }
  });
}

type Place = readonly (string | number)[];

function placesIn(value: unknown, path: Place = []): Place[] {
  // What is deeper than any answer was nested by another wound.
  if (typeof value !== 'object' || value === null || path.length > 12) return [path];
  // Of rows that are all alike the first few will do.
  const inner: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? value.slice(0, 5).map((item: unknown, index) => [index, item])
    : Object.entries(value);
  return [path, ...inner.flatMap(([name, item]) => placesIn(item, [...path, name]))];
}

function changedAt(value: unknown, [name, ...rest]: Place, change: (there: unknown) => unknown): unknown {
  if (name === undefined) return change(value);
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index): unknown[] => {
      if (index !== name) return [item];
      const changed = changedAt(item, rest, change);
      return changed === undefined ? [] : [changed];
    });
  const record = value as Readonly<Record<string, unknown>>;
  return withMember(record, String(name), changedAt(record[name], rest, change));
}

const MARKS = ['\r\n', '\n', '\0', ' ', '\t', ':', '%', '%00', '"', "'", '=', ',', '\uFEFF', '[', '{', '../'];

const cut = fc.oneof(
  fc.tagged('flip', { at: fc.nat(), bit: fc.nat({ max: 7 }) }),
  fc.tagged('without', { at: fc.nat(), length: fc.integer({ min: 1, max: 64 }) }),
  fc.tagged('with', {
    at: fc.nat(),
    bytes: fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 16 }),
      fc.constantFrom(...MARKS).map((text) => new TextEncoder().encode(text)),
    ),
  }),
  fc.tagged('again', {
    at: fc.nat(),
    length: fc.integer({ min: 1, max: 400 }),
    times: fc.integer({ min: 1, max: 60 }),
  }),
  fc.tagged('end', { at: fc.nat() }),
);
type Cut = typeof cut extends fc.Arbitrary<infer One> ? One : never;

/** Bytes with one to four things wrong: flipped, left out, put in, repeated, cut off. */
export function damagedBytes(bytes: Uint8Array): fc.Arbitrary<Buffer> {
  return fc
    .array(cut, { minLength: 1, maxLength: 4 })
    .map((cuts) => cuts.reduce<Buffer>((before, each) => damaged(before, each), Buffer.from(bytes)));
}

export function damagedText(text: string): fc.Arbitrary<string> {
  return damagedBytes(Buffer.from(text)).map((bytes) => bytes.toString('utf8'));
}

function damaged(bytes: Buffer, one: Cut): Buffer {
  const at = one.at % (bytes.length + 1);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (one.kind) {
    case 'flip': {
      const [byte = 0] = after;
      return Buffer.concat([before, Buffer.from([byte ^ (2 ** one.bit)]), after.subarray(1)]);
    }
    case 'without':
      return Buffer.concat([before, after.subarray(one.length)]);
    case 'with':
      return Buffer.concat([before, one.bytes, after]);
    case 'again':
      return Buffer.concat([
        before,
        ...Array.from({ length: one.times }, () => after.subarray(0, one.length)),
        after,
      ]);
    case 'end':
      return Buffer.from(before);
  }
}
