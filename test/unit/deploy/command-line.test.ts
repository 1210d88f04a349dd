/** How Node is started: the image says it, and everything else that starts the program says the same. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { IMAGE_ENV, IMAGE_FLAGS } from '../../bench/image.ts';
import { root } from '../../support/optional.ts';

const MALLOC = Object.entries(IMAGE_ENV)
  .filter(([name]) => name.startsWith('MALLOC_'))
  .map(([name, value]) => `${name}=${value}`);
const NODE = ['node', ...IMAGE_FLAGS].join(' ');

test.each([
  ['the unit', 'deploy/systemd/pilotlight.service', ['/usr/local/bin/pilotlight run'], 'Environment='],
  ['the page about deployments', 'deploy/README.md', ['dist/pilotlight.js run'], ''],
])("%s gives V8's flags and malloc's settings", (_, file, rest, before) => {
  const text = readFileSync(`${root}${file}`, 'utf8');
  expect(MALLOC.length).toBeGreaterThan(0);
  for (const wanted of [[NODE, ...rest].join(' '), ...MALLOC.map((one) => before + one)])
    expect(text).toContain(wanted);
});

test("npm start gives V8's flags", () => {
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
    scripts: { start: string };
  };
  expect(scripts.start).toBe(`${NODE} src/cli/main.ts run`);
});

/** Node's binary has its own modules compiled, for V8 with this tag; with another it compiles them anew at each start. */
function versionTag(flags: readonly string[]): string {
  return execFileSync(process.execPath, [...flags, '-p', 'v8.cachedDataVersionTag()'], { encoding: 'utf8' });
}

test('with these flags V8 takes what Node has compiled of its own modules', () => {
  expect(versionTag(IMAGE_FLAGS)).toBe(versionTag([]));
  expect(versionTag(['--liftoff-only'])).not.toBe(versionTag([]));
});
