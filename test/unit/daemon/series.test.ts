import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Exposition } from '../../../src/daemon/metrics/exposition.ts';
import { expose, type Family, type Sample } from '../../../src/daemon/metrics/series.ts';

function textOf(one: Family<undefined>): string {
  const text = new Exposition();
  expose([one], undefined, text);
  return Buffer.from(text.bytes()).toString();
}

function family(...samples: Sample[]): Family<undefined> {
  return { name: 'things', type: 'gauge', help: 'Back\\slash and\nline end.', read: () => samples };
}

const HEAD = '# HELP pilotlight_things Back\\\\slash and\\nline end.\n# TYPE pilotlight_things gauge\n';

test('a family without samples is still announced', () => {
  expect(textOf(family())).toBe(HEAD);
});

test('label values are escaped as the format asks', () => {
  const text = textOf(family([{ name: 'a"b\\c\nd', kind: 'plain' }, 1.5]));
  expect(text).toBe(`${HEAD}pilotlight_things{name="a\\"b\\\\c\\nd",kind="plain"} 1.5\n`);
});

test('numbers that are none, or without end, are spelled as Prometheus reads them', () => {
  const values: [string, number][] = [
    ['NaN', Number.NaN],
    ['+Inf', Infinity],
    ['-Inf', -Infinity],
    ['1e+21', 1e21],
    ['0', 0],
  ];
  for (const [spelled, value] of values)
    expect(textOf(family([{}, value]))).toBe(`${HEAD}pilotlight_things ${spelled}\n`);
});

test('a sample without a value has no series, and no series is written twice', () => {
  const text = textOf(
    family([{ id: '1' }, null], [{ id: '2' }, 1], [{ id: '2' }, 2], [{ id: '3' }, undefined]),
  );
  expect(text).toBe(`${HEAD}pilotlight_things{id="2"} 2\n`);
});

test('text of any length and alphabet is in the bytes as it was added, also in memory that was used before', () => {
  const parts = fc.array(fc.string({ unit: 'grapheme', maxLength: 20_000, size: 'max' }), { maxLength: 5 });
  let memory: Buffer | undefined;
  fc.assert(
    fc.property(parts, (added) => {
      const text = new Exposition(memory);
      for (const part of added) text.add(part);
      ({ memory } = text);
      expect(Buffer.from(text.bytes()).toString()).toBe(added.join(''));
    }),
    { numRuns: 50, endOnFailure: true },
  );
});
