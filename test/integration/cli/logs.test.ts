import { afterAll, describe, expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { READER_LEFT } from '../../../src/cli/console.ts';
import { pilotlight, startInProcess, typed } from '../../support/console.ts';

const seed = { workergroups: [{ id: 7, lines_per_second: 0, retained_lines: 50 }] };
const emulator = await startEmulator({ seed });
afterAll(() => emulator.close());

const NUMBERED = Array.from({ length: 10 }, (_, index) => `line ${index}`);

const env = { API_KEY: emulator.apiKey, BASE_URL: emulator.url };
const logs = (...args: readonly string[]) => pilotlight(['logs', '7', ...args], { env });
const follow = (...args: readonly string[]) => startInProcess(['logs', '7', '-f', ...args], { env });

describe('pilotlight logs', () => {
  test('prints the last lines once and ends', async () => {
    emulator.workergroups.clear(7);
    emulator.workergroups.append(7, NUMBERED);
    expect(await logs()).toEqual({ code: 0, stdout: `${NUMBERED.join('\n')}\n`, stderr: '' });
    expect((await logs('--tail', '2')).stdout).toBe('line 8\nline 9\n');
    expect((await logs('--tail', '1', '--timestamps')).stdout).toMatch(/^\d{4}-.*Z line 9\n$/);
    const { stdout } = await logs('--tail', '2', '--json');
    const [first, second] = stdout
      .split('\n')
      .map((line) => JSON.parse(line || 'null') as { time: string } | null);
    expect(first).toMatchObject({ workergroup_id: 7, epoch: 1, seq: 1, line: 'line 8' });
    expect(second).toMatchObject({ seq: 2, line: 'line 9' });
    // Each has a time of its own, near to now.
    expect(Date.parse(first?.time ?? '')).toBeGreaterThan(Date.now() - 60_000);
    expect((first?.time ?? '') < (second?.time ?? '')).toBe(true);
  });

  test('-f shows the tail, then each line once, a gap as a gap, and survives an outage with a note', async () => {
    emulator.workergroups.clear(7);
    emulator.workergroups.append(7, [...NUMBERED, 'before']);
    const following = follow('--tail', '1');
    const { stdout, stderr } = following;
    await expect.poll(stdout).toBe('before\n');
    const outage = await emulator.faults.add({ kind: 'status', operation: 'workergroups.logs' });
    const failing = /^pilotlight: worker group 7: .*503.*; trying again, nothing is lost yet\n$/;
    await expect.poll(stderr).toMatch(failing);
    await outage.clear();
    emulator.workergroups.append(7, ['after', '\u001B[31mcoloured\u001B[0m']);
    await expect.poll(stdout).toBe('before\nafter\ncoloured\n');
    const over = /trying again, nothing is lost yet\npilotlight: worker group 7: following again\n$/;
    await expect.poll(stderr).toMatch(over);
    const burst = Array.from({ length: 200 }, (_, index) => `burst ${index}`);
    emulator.workergroups.append(7, burst);
    await expect.poll(stdout).toMatch(/^burst 199$/m);
    following.interrupt();
    expect(await following.exit).toBe(130);
    expect(stdout()).toMatch(/^before\nafter\ncoloured\nburst 15\d\n/);
    expect(stderr()).toMatch(/^pilotlight: worker group 7: gap: .*$/m);
  });

  test('-f --json is what the daemon prints, gaps among it; a reader that leaves ends it', async () => {
    emulator.workergroups.clear(7);
    emulator.workergroups.append(7, ['\u001B[31mred\u001B[0m']);
    const [following, other] = [follow('--json'), follow('--no-color')];
    const { stdout } = following;
    await expect.poll(() => stdout() + other.stdout()).toMatch(/red.*\n.*red\n/);
    emulator.workergroups.clear(7);
    emulator.workergroups.append(7, ['new']);
    await expect.poll(stdout).toContain('"line":"new"');
    const lines = stdout().trimEnd().split('\n');
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { workergroup_id: 7, epoch: 1, seq: 1, line: '\u001B[31mred\u001B[0m' },
      { epoch: 2, seq: 2, gap: { reason: 'reset' } },
      { epoch: 2, seq: 3, line: 'new' },
    ]);
    const gap = 'gap: the log began again here; the last lines before it may be lost';
    await expect.poll(other.stderr).toBe(`pilotlight: worker group 7: ${gap}\n`);
    other.interrupt();
    following.interrupt(READER_LEFT);
    expect(await following.exit).toBe(0);
  });

  test('names a group by its endpoint, and takes what is wanted of it', async () => {
    await using named = await startEmulator({
      dialect: 'public',
      seed: { workergroups: [{ id: 7, endpoint_id: 31, lines_per_second: 0, replay: { lines: [] } }] },
    });
    const ask = (...args: readonly string[]) =>
      pilotlight(['logs', ...args], { env: { API_KEY: named.apiKey, BASE_URL: named.url } });
    const at = (ago: number) => new Date(Date.now() - ago * 1_000).toISOString();
    named.workergroups.append(7, [`${at(600)} old`, `${at(60)} ERROR young`, '  of the young']);
    const { stdout } = await ask('chat', '--level', 'info1, trace', '--since', '5m');
    expect(stdout).toMatch(/^\S+ ERROR young\n {2}of the young\n$/);
    expect((await ask('7', '--level', 'info0', '--grep', 'o(ld|f)', '--no-color')).stdout).toMatch(
      /^\S+ old\n {2}of the young\n$/,
    );
    const { stdout: engine } = await ask('--endpoint', 'chat', '--tail', '1', '--json', '--level', 'info1');
    expect(JSON.parse(engine)).toMatchObject({ endpoint: 'chat', endpoint_id: 31, level: 'info1', seq: 1 });
    expect((await ask('--endpoint', '31', '--since', '2000-01-01')).stdout).toContain('endpoint 31 is there');
    const wrong = [['chart'], ['--endpoint', 'chart'], [], ['7', '--endpoint', 'chat'], ['7', '--grep', '(']];
    const codes = await Promise.all(wrong.map(async (args) => (await ask(...args)).code));
    expect(codes).toEqual([1, 1, 2, 2, 2]);
    named.workergroups.clear(7);
    named.workergroups.append(7, ['without a time']);
    expect(await ask('7', '--since', '5m')).toMatchObject({ code: 1, stdout: '' });
  });

  test('says what is wrong: group, tail, service', async () => {
    const said = async (line: string, over = {}) => {
      const { code, stdout, stderr } = await typed(line, { env: { ...env, ...over } });
      expect(stdout).toBe('');
      return [code, stderr];
    };
    expect(await said('logs 99')).toEqual([1, expect.stringContaining('error: ')]);
    expect(await said('logs 99 -f')).toEqual([1, expect.stringMatching(/^error: .*404.*\n$/)]);
    expect(await said('logs 7 -f', { API_KEY: 'wrong' })).toEqual([4, expect.stringContaining('401')]);
    expect(await said('logs 7', { BASE_URL: 'http://127.0.0.1:1' })).toEqual([3, expect.any(String)]);
    const { code, stderr } = await typed('logs 7');
    expect([code, stderr]).toEqual([2, expect.stringContaining('API_KEY: is not set')]);
  });
});
