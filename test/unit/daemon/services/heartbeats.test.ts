import { expect, test, vi } from 'vitest';
import { receiveHeartbeats, type HeartbeatsOptions } from '../../../../src/daemon/services/heartbeats.ts';
import type { DaemonMessage, HeartMessage } from '../../../../src/heartbeat/process/link/link.ts';

test('a late answer to one reload is not taken for that to the next', async () => {
  vi.useFakeTimers();
  const sent: DaemonMessage[] = [];
  let say: (message: HeartMessage) => void = () => {};
  const heart = {
    send: (message: DaemonMessage) => void sent.push(message),
    listen: (hear: typeof say) => void (say = hear),
  };
  const heartbeats = receiveHeartbeats({ heart } as unknown as HeartbeatsOptions);
  const first = heartbeats.reload();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await first).toEqual({
    ok: false,
    isUnanswered: true,
    problems: ['the heart did not answer in time; it may take the configuration yet'],
  });
  const second = heartbeats.reload();
  expect(sent).toEqual([
    { type: 'reload', number: 1 },
    { type: 'reload', number: 2 },
  ]);
  say({ type: 'reloaded', number: 1, ok: true, problems: [] });
  say({ type: 'reloaded', number: 2, ok: false, problems: ['no'] });
  expect(await second).toEqual({ ok: false, problems: ['no'] });
  vi.useRealTimers();
});
