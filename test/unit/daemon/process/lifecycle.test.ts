import { expect, test } from 'vitest';
import { Lifecycle } from '../../../../src/daemon/process/lifecycle.ts';
import { collectedLog } from '../../../support/collected-log.ts';

function life() {
  const { logger, lines } = collectedLog();
  const lifecycle = new Lifecycle(logger);
  return { lifecycle, lines, said: () => lines.map(({ level, msg }) => [level, msg]) };
}

test('at the end every step runs once and in order, though one fails and one hangs; the first failure is told', async () => {
  const { lifecycle, lines } = life();
  const ran: string[] = [];
  const left: number[] = [];
  lifecycle.onStop('first', () => void ran.push('first'));
  lifecycle.onStop('fails', () => Promise.reject(new Error('broken')));
  lifecycle.onStop('hangs', () => new Promise<void>(() => ran.push('hangs')));
  lifecycle.onStop('last', (remainingMs) => {
    ran.push('last');
    left.push(remainingMs);
  });
  await lifecycle.stop(20);
  await lifecycle.stop(20);
  expect(ran).toEqual(['first', 'hangs', 'last']);
  expect(left).toEqual([0]);
  expect(lines.at(-1)).toMatchObject({
    level: 50,
    msg: 'shutdown was not clean',
    err: { message: expect.stringContaining('shutdown step "fails" failed: broken') as string },
  });
  expect(lifecycle.state).toBe('stopped');
});

test('a step that hangs is named', async () => {
  const { lifecycle, lines } = life();
  lifecycle.onStop('hangs', () => new Promise<void>(() => {}));
  await lifecycle.stop(1);
  expect(lines.at(-1)?.['err']).toMatchObject({
    message: expect.stringContaining('shutdown step "hangs" failed: no answer within 0 ms') as string,
  });
});

test('a life begins, runs, drains and stops, once', async () => {
  const { lifecycle, said } = life();
  const states: unknown[] = [];
  const note = (): void => void states.push([lifecycle.state, lifecycle.isEnding]);
  note();
  lifecycle.begin();
  note();
  const left: number[] = [];
  lifecycle.onStop('step', (remainingMs) => {
    note();
    left.push(remainingMs);
  });
  const [first, second] = [lifecycle.stop(30_000), lifecycle.stop(0)];
  await Promise.all([first, second]);
  note();
  expect(states).toEqual([
    ['starting', false],
    ['running', false],
    ['draining', true],
    ['stopped', true],
  ]);
  expect(left).toEqual([expect.any(Number)]);
  expect(left[0]).toBeGreaterThan(0);
  expect(left[0]).toBeLessThanOrEqual(30_000);
  expect(said()).toEqual([
    [30, 'draining'],
    [30, 'stopped'],
  ]);
});
