import { expect, test } from 'vitest';
import { expose, type Family, type Sample } from '../../../src/daemon/metrics/series.ts';

function family(...samples: Sample[]): Family<undefined> {
  return { name: 'things', type: 'gauge', help: 'Back\\slash and\nline end.', read: () => samples };
}

const HEAD = '# HELP pilotlight_things Back\\\\slash and\\nline end.\n# TYPE pilotlight_things gauge\n';

test('a family without samples is still announced', () => {
  expect(expose([family()], undefined)).toBe(HEAD);
});

test('label values are escaped as the format asks', () => {
  const text = expose([family([{ name: 'a"b\\c\nd', kind: 'plain' }, 1.5])], undefined);
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
    expect(expose([family([{}, value])], undefined)).toBe(`${HEAD}pilotlight_things ${spelled}\n`);
});

test('a sample without a value has no series, and no series is written twice', () => {
  const text = expose(
    [family([{ id: '1' }, null], [{ id: '2' }, 1], [{ id: '2' }, 2], [{ id: '3' }, undefined])],
    undefined,
  );
  expect(text).toBe(`${HEAD}pilotlight_things{id="2"} 2\n`);
});
