import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { startTestDaemon, until } from '../../support/daemon.ts';
import { describeWithRealData, realData } from '../../support/real-data.ts';

function realLines(file: string): string[] {
  return readFileSync(`${realData}logs/${file}`, 'utf8')
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => line.replace(/\r$/, ''));
}

describeWithRealData('real logs replayed through a worker group', () => {
  test.concurrent.each(['OpenSSH.log', 'Spark.log', 'OpenStack.log'])(
    '%s comes out of stdout once and in order, though every third poll fails',
    async (file) => {
      const lines = realLines(file);
      await using emulator = await startEmulator({
        seed: { workergroups: [{ id: 7, lines_per_second: 500, replay: { lines } }] },
      });
      const failing = await emulator.faults.add({
        kind: 'status',
        status: 503,
        operation: 'workergroups.logs',
        every: 3,
      });
      await using daemon = await startTestDaemon({
        API_KEY: emulator.apiKey,
        BASE_URL: emulator.url,
        WORKER_GROUPS: '7',
      });
      await until(() => daemon.lines(7).length >= lines.length);
      expect(daemon.lines(7)).toEqual(lines);
      expect(failing.struck).toBeGreaterThan(0);
      const records = daemon.records();
      expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
      expect(records.filter((record) => 'gap' in record)).toEqual([]);
    },
  );
});

describe('worker-group lines on stdout', () => {
  test('lost lines are counted in a gap record of their own', async () => {
    await using emulator = await startEmulator({
      seed: { workergroups: [{ id: 7, lines_per_second: 0, retained_lines: 100 }] },
    });
    emulator.workergroups.append(7, ['first']);
    await using daemon = await startTestDaemon({
      API_KEY: emulator.apiKey,
      BASE_URL: emulator.url,
      WORKER_GROUPS: '7',
    });
    await until(() => daemon.lines(7).length === 1);
    emulator.workergroups.append(
      7,
      Array.from({ length: 300 }, (_, index) => `line ${index}`),
    );
    await until(() => daemon.lines(7).includes('line 299'));
    const gaps = daemon.records().flatMap((record) => ('gap' in record ? [record.gap.reason] : []));
    expect(gaps).toHaveLength(1);
    expect(await daemon.metrics()).toMatch(
      /pilotlight_workergroup_log_gaps_total\{workergroup_id="7",reason="\w+"\} 1/,
    );
  });
});
