import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { startPilotlight, type Program } from '../../support/process.ts';

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator({
    seed: { workergroups: [{ id: 7, lines_per_second: 0, retained_lines: 50 }] },
  });
});
afterAll(() => emulator.close());

const NUMBERED = Array.from({ length: 10 }, (_, index) => `line ${index}`);

function logs(...args: string[]): Program {
  return startPilotlight(['logs', '7', ...args], {
    PILOTLIGHT_API_KEY: emulator.apiKey,
    PILOTLIGHT_BASE_URL: emulator.url,
  });
}

describe('pilotlight logs', () => {
  test('prints the last lines once and ends', async () => {
    emulator.workergroups.clear(7);
    emulator.workergroups.append(7, NUMBERED);
    await using all = logs();
    expect([await all.exit, all.stdout()]).toEqual([0, `${NUMBERED.join('\n')}\n`]);
    await using some = logs('--tail', '2');
    expect([await some.exit, some.stdout()]).toEqual([0, 'line 8\nline 9\n']);
    await using stamped = logs('--tail', '1', '--timestamps');
    expect([await stamped.exit, stamped.stdout()]).toEqual([
      0,
      expect.stringMatching(/^\d{4}-.*Z line 9\n$/),
    ]);
    await using json = logs('--tail', '1', '--json');
    expect(await json.exit).toBe(0);
    expect(JSON.parse(json.stdout())).toMatchObject({ workergroup_id: 7, line: 'line 9' });
  });

  test('-f shows the tail, then each line once, a gap as a gap, and survives an outage with a note', async () => {
    emulator.workergroups.clear(7);
    emulator.workergroups.append(7, [...NUMBERED, 'before']);
    await using following = logs('-f', '--tail', '1');
    await following.seen(/^before$/m);
    const outage = await emulator.faults.add({ kind: 'status', operation: 'workergroups.logs' });
    await following.seen(/503.*trying again/);
    await outage.clear();
    emulator.workergroups.append(7, ['after', '\u001B[31mcoloured\u001B[0m']);
    await following.seen(/^coloured$/m);
    await following.seen(/following again/);
    emulator.workergroups.append(
      7,
      Array.from({ length: 200 }, (_, index) => `burst ${index}`),
    );
    await following.seen(/^burst 199$/m);
    following.child.kill('SIGINT');
    expect(await following.exit).toBe(130);
    expect(following.stdout()).toMatch(/^before\nafter\ncoloured\n--- gap: .* ---\nburst 15\d\n/);
  });

  test('-f --json is what the daemon prints, gaps among it; a reader that leaves ends it', async () => {
    emulator.workergroups.clear(7);
    emulator.workergroups.append(7, ['\u001B[31mred\u001B[0m']);
    await using following = logs('-f', '--json');
    await following.seen(/red/);
    emulator.workergroups.clear(7);
    emulator.workergroups.append(7, ['new']);
    await following.seen(/"line":"new"/);
    const records = following
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(records).toMatchObject([
      { workergroup_id: 7, epoch: 1, seq: 1, line: '\u001B[31mred\u001B[0m' },
      { epoch: 2, seq: 2, gap: { reason: 'reset' } },
      { epoch: 2, seq: 3, line: 'new' },
    ]);
    following.child.stdout?.destroy();
    emulator.workergroups.append(7, ['nobody reads this']);
    expect(await following.exit).toBe(0);
  });

  test('says what is wrong: group, tail, service', async () => {
    await using unknown = startPilotlight(['logs', '99'], {
      PILOTLIGHT_API_KEY: emulator.apiKey,
      PILOTLIGHT_BASE_URL: emulator.url,
    });
    expect([await unknown.exit, unknown.stderr()]).toEqual([1, expect.stringContaining('error: ')]);
    await using mistyped = startPilotlight(['logs', '99', '-f'], {
      PILOTLIGHT_API_KEY: emulator.apiKey,
      PILOTLIGHT_BASE_URL: emulator.url,
    });
    expect([await mistyped.exit, mistyped.stderr()]).toEqual([
      1,
      expect.stringMatching(/^error: .*404.*\n$/),
    ]);
    await using locked = startPilotlight(['logs', '7', '-f'], {
      PILOTLIGHT_API_KEY: 'wrong',
      PILOTLIGHT_BASE_URL: emulator.url,
    });
    expect([await locked.exit, locked.stderr()]).toEqual([4, expect.stringContaining('401')]);
    await using tail = logs('--tail', '0');
    expect([await tail.exit, tail.stderr()]).toEqual([2, expect.stringContaining('from 1 to 10000')]);
    await using unreachable = startPilotlight(['logs', '7'], {
      PILOTLIGHT_API_KEY: 'k',
      PILOTLIGHT_BASE_URL: 'http://127.0.0.1:1',
    });
    expect(await unreachable.exit).toBe(3);
    await using unconfigured = startPilotlight(['logs', '7']);
    expect([await unconfigured.exit, unconfigured.stderr()]).toEqual([
      2,
      expect.stringContaining('API_KEY: is not set'),
    ]);
  });
});
