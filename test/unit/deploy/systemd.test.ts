import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { daemonMemory } from '../../../src/heartbeat/process/system.ts';
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

describe('the unit', () => {
  const text = readFileSync(unit, 'utf8');
  const values = (name: string): string[] =>
    [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
  const seconds = (name: string): number => Number(/^(\d+)s$/.exec(values(name).join())?.[1]);

  test('waits longer for the end than the program takes, and gives the watchdog time', () => {
    expect(seconds('TimeoutStopSec')).toBeGreaterThan(10);
    expect(seconds('WatchdogSec')).toBeGreaterThan(30);
  });

  test('has the heart as its main process, which nothing but exit code 2 keeps from being started again', () => {
    expect(values('Type')).toEqual(['notify']);
    expect(values('NotifyAccess')).toEqual(['all']);
    expect(values('ExecStart')).toEqual([expect.stringMatching(/ node (--\S+ )*\S+\/pilotlight run$/)]);
    expect(values('Restart')).toEqual(['always']);
    expect(values('RestartPreventExitStatus')).toEqual(['2']);
    expect(values('StartLimitIntervalSec')).toEqual(['0']);
  });

  test('ends the daemon by way of the heart, and not the heart for want of memory in the daemon', () => {
    expect(values('KillMode')).toEqual(['mixed']);
    expect(values('OOMPolicy')).toEqual(['continue']);
    const [, megabytes] = /^(\d+)M$/.exec(values('MemoryMax').join()) ?? [];
    expect(daemonMemory(Number(megabytes) * 2 ** 20).bound).toBe(144 * 2 ** 20);
  });

  test('has a reload that means something: the program reads the file, and systemd hands over no other', () => {
    expect(values('ExecReload')).toEqual(['/bin/kill -HUP $MAINPID']);
    expect(values('EnvironmentFile')).toEqual([]);
    expect(values('Environment')).toContain('PILOTLIGHT_ENV_FILE=/etc/pilotlight/environment');
  });
});
