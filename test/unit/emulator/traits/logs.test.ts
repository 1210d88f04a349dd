/** The log of a worker group and that of an endpoint, in every value of the traits of logs. */
import { describe, expect, test } from 'vitest';
import type { TraitsInput } from '../../../../src/emulator/index.ts';
import { publicDialect } from '../../../../src/emulator/dialect.ts';
import { createLab } from '../../../support/two-factor.ts';

const BAR = 'load  0%\rload 99%';
const SEED = {
  users: [{ id: 1, api_keys: [{ name: 'dev', key: 'dev' }] }],
  endpoint_groups: [{ id: 31, endpoint_name: 'chat', max_workers: 2 }],
  workergroups: [{ id: 7, endpoint_id: 31, lines_per_second: 0, replay: { lines: [] } }],
};

function started(traits: TraitsInput) {
  const lab = createLab({}, publicDialect, SEED);
  lab.traits.set(traits);
  const asked = (id: 'workergroups.logs' | 'endpointGroups.logs', tail?: number) =>
    lab.call(id, { id: id === 'workergroups.logs' ? 7 : 31, ...(tail !== undefined && { tail }) });
  return { lab, group: (tail?: number) => asked('workergroups.logs', tail).body as unknown, asked };
}

describe('what tail counts', () => {
  test.each<['lines' | 'bytes', number, string]>([
    ['lines', 1, 'two 木\n'],
    ['lines', 9, 'one\ntwo 木\n'],
    ['bytes', 1, '\n'],
    ['bytes', 4, '木\n'],
    ['bytes', 3, '\uFFFD\uFFFD\n'],
    ['bytes', 9, '\ntwo 木\n'],
    ['bytes', 100, 'one\ntwo 木\n'],
    ['bytes', -1, 'one\ntwo 木\n'],
  ])('%s: %d', (tail_unit, tail, logs) => {
    const { lab, group } = started({ tail_unit, log_shape: 'text' });
    lab.workergroups.append(7, ['one', 'two 木']);
    expect(group(tail)).toEqual({ success: true, logs });
  });

  test('-1 and 0 are refused where they mean nothing', () => {
    const { asked } = started({ tail_unit: 'lines' });
    for (const { body } of [asked('workergroups.logs', -1), asked('endpointGroups.logs', 0)])
      expect(body).toContain('tail');
  });

  test('a log of many lines is read from its end, whatever is asked for', () => {
    const { lab, group } = started({ tail_unit: 'bytes', log_shape: 'text' });
    const lines = Array.from({ length: 2_000 }, (_, index) => `line ${index}`);
    lab.workergroups.append(7, lines);
    const whole = `${lines.join('\n')}\n`;
    for (const tail of [5, 3_000, whole.length - 1, whole.length, 100_000])
      expect(group(tail)).toEqual({ success: true, logs: whole.slice(-tail) });
  });
});

test('in levels, the more detailed one has each state of a line that was redrawn, and unfinished text stands last', () => {
  const { lab, group } = started({ log_shape: 'levels', tail_unit: 'bytes' });
  lab.workergroups.append(7, [BAR]);
  lab.workergroups.write(7, 'not yet');
  const levels = { info0: `${BAR}\nnot yet`, info1: 'load 99%\nnot yet', trace: '', debug: '' };
  expect(group()).toEqual({ success: true, ...levels });
});

describe('a file that is wiped when it is full', () => {
  test.each(['lines', 'bytes'] as const)(
    'in %s: the line that does not fit begins it, in each level by itself',
    (tail_unit) => {
      const { lab, group } = started({ tail_unit, log_file_bytes: 30 });
      const seen = (lines: readonly string[]) => {
        lab.workergroups.append(7, lines);
        const { info0, info1 } = group(1_000) as Record<string, string>;
        return [info0, info1];
      };
      expect(seen(['1234567', BAR])).toEqual([`1234567\n${BAR}\n`, '1234567\nload 99%\n']);
      expect(seen(['abcd'])).toEqual(['abcd\n', '1234567\nload 99%\nabcd\n']);
      expect(seen(['x'.repeat(40), 'y'])).toEqual(['y\n', 'y\n']);
      lab.workergroups.clear(7);
      expect(seen(['after a restart'])).toEqual(['after a restart\n', 'after a restart\n']);
    },
  );

  test('has lost what came between two looks and did not fit', () => {
    const { lab, group } = started({ tail_unit: 'bytes', log_shape: 'text', log_file_bytes: 64 });
    lab.workergroups.append(
      7,
      Array.from({ length: 100 }, (_, index) => `line ${index}`),
    );
    const { logs } = group(-1) as { logs: string };
    expect(logs).toMatch(/^(?:line \d\d\n)*line 99\n$/);
    expect(logs.length).toBeLessThanOrEqual(64);
  });
});

describe('the log of an endpoint', () => {
  test('is never empty, grows at each look of its engine, and is wiped as others are', () => {
    const { lab, asked } = started({ log_shape: 'text', log_file_bytes: 2_000 });
    const read = () => (asked('endpointGroups.logs', -1).body as { logs: string }).logs;
    expect(read()).toContain('endpoint 31 is there');
    let longest = 0;
    for (let minute = 0; minute < 10; minute++) {
      const before = read();
      lab.advance(60_000);
      expect(read()).not.toBe(before);
      longest = Math.max(longest, read().length);
    }
    expect(read()).toMatch(
      /^\d+\.\d{3}\[\d{3}\] \[autoscaler\.cpp:\d+ \w+\] .*managing instances of endpoint 31: 2 cold\n$/s,
    );
    expect(longest).toBeGreaterThan(1_000);
    expect(longest).toBeLessThanOrEqual(2_000);
  });

  test('has the values and the table of the workers in levels of their own, and each counts by itself', () => {
    const { lab, asked } = started({});
    lab.workergroups.add({ id: 8, endpoint_id: 31, workers: [501] });
    lab.advance(15_000);
    const { info0, info1, trace, debug } = asked('endpointGroups.logs', 450).body as Record<string, string>;
    expect([info0, trace, debug].map((text) => text?.length)).toEqual([450, 450, 450]);
    expect(info1?.length).toBeLessThan(450);
    expect(trace).toMatch(/^types\.h\[\d+\] run_value [\d.]+$/m);
    expect(debug).toMatch(/^ +Status +Workers\n +cold +2\n +ready +1$/m);
  });
});
