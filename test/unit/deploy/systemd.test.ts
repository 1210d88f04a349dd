import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeWith, hasCommand, root } from '../../support/optional.ts';

const unit = `${root}deploy/systemd/pilotlight.service`;

function analyze(...args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, unit], { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describeWith(
  'systemd-analyze',
  hasCommand('systemd-analyze', '--version'),
  'apt-get install systemd',
)('the systemd unit', () => {
  test('has nothing that systemd does not know', () => {
    expect(analyze('verify')).toEqual({ status: 0, output: '' });
  });

  test('exposes no more than 1.5 of 10 (systemd-analyze security)', () => {
    const { status, output } = analyze('security', '--offline=true', '--threshold=15');
    expect(status, output).toBe(0);
    expect(analyze('security', '--offline=true', '--threshold=5').status).not.toBe(0);
  });
});

test('the unit waits longer for the end than the daemon takes, and gives the watchdog time', () => {
  const text = readFileSync(unit, 'utf8');
  expect(text).toMatch(/^Type=notify$/m);
  expect(text).toMatch(/^NotifyAccess=all$/m);
  const seconds = (name: string): number => Number(new RegExp(`^${name}=(\\d+)s$`, 'm').exec(text)?.[1]);
  expect(seconds('TimeoutStopSec')).toBeGreaterThan(10);
  expect(seconds('WatchdogSec')).toBeGreaterThan(30);
});
