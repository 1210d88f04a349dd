import { spawnSync } from 'node:child_process';
import * as fc from '../../../support/fast-check.ts';
import { expect, test } from 'vitest';
import { RequestError } from '../../../../src/client/errors.ts';
import { fitOnstart } from '../../../../src/client/flows/onstart.ts';
import { LIMITS } from '../../../../src/contract/limits.ts';

function run(script: string) {
  const { status, stdout } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
  return { status, stdout };
}

const filler = Array.from(
  { length: 200 },
  (_, index) => `# a comment that repeats, number ${index % 7}\n`,
).join('');

test('a script that fits is sent as it is', () => {
  const script = 'echo "hello"; exit 3';
  expect(fitOnstart(script)).toBe(script);
  for (const character of ['x', '🔥']) {
    const longest = character.repeat(LIMITS.onstartLength);
    expect(fitOnstart(longest)).toBe(longest);
  }
});

test('a longer one is packed, runs in sh, and keeps output, exit code and quotes', () => {
  const script = `${filler}printf '%s' "it's 5 \\$ and ü"\nexit 7\n`;
  const packed = fitOnstart(script);
  expect(script.length).toBeGreaterThan(LIMITS.onstartLength);
  expect(packed.length).toBeLessThanOrEqual(LIMITS.onstartLength);
  expect(run(packed)).toEqual({ status: 7, stdout: "it's 5 $ and ü" });
});

test('the interpreter of its first line is used', () => {
  const packed = fitOnstart(`#!/usr/bin/env bash\n${filler}a=(one two); echo "\${a[1]}"\n`);
  expect(run(packed)).toEqual({ status: 0, stdout: 'two\n' });
});

test('one that is too long even so is refused with both lengths', () => {
  // Random bytes do not compress.
  const script = Array.from({ length: 9_000 }, (_, index) =>
    String.fromCharCode(33 + ((index * 7919 + (index >> 3) * 31) % 90)),
  ).join('');
  const noise =
    fc.sample(fc.string({ minLength: 8_000, maxLength: 8_000 }), { numRuns: 1, seed: 1 })[0] ?? script;
  expect(() => fitOnstart(noise)).toThrow(RequestError);
  expect(() => fitOnstart(noise)).toThrow(/at most 4048 characters; this one has 8000, and \d+ compressed/);
});

test('whatever a script prints, it prints packed too', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', "'", '"', '\\', '$', ' ', '%', '!', 'ü', '\t'), maxLength: 60 }),
      (text) => {
        const script = `${filler}cat <<'END-OF-TEXT'\n${text}\nEND-OF-TEXT\n`;
        expect(run(fitOnstart(script)).stdout).toBe(`${text}\n`);
      },
    ),
    { numRuns: 30 },
  );
});
