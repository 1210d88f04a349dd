/** How many files a reader opens to follow one heartbeat. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { root } from '../../support/optional.ts';

test('one heartbeat runs through 20 files at most', { timeout: 60_000 }, () => {
  const said = execFileSync(process.execPath, ['test/docs/heartbeat-path.ts'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(Number(/^(\d+) files$/m.exec(said)?.[1])).toBeLessThanOrEqual(20);
});
