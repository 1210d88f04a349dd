import { pino } from 'pino';
import { expect, test } from 'vitest';
import { Lifecycle, ShutdownSequence } from '../../../../src/daemon/process/lifecycle.ts';

test('at shutdown every step runs once and in order, though one fails and one hangs; the first failure is told', async () => {
  const ran: string[] = [];
  const sequence = new ShutdownSequence();
  sequence.add('first', () => void ran.push('first'));
  sequence.add('fails', () => Promise.reject(new Error('broken')));
  sequence.add('hangs', () => new Promise<void>(() => ran.push('hangs')));
  sequence.add('last', () => void ran.push('last'));
  const failure = await sequence.run(() => 20);
  expect(ran).toEqual(['first', 'hangs', 'last']);
  expect(failure?.message).toBe('shutdown step "fails" failed');
  expect(failure?.cause).toEqual(new Error('broken'));
  expect(await sequence.run(() => 20)).toBeUndefined();
  expect(ran).toHaveLength(3);
});

test('a step that hangs, or throws at once, is named; each knows what is left', async () => {
  const sequence = new ShutdownSequence();
  const left: number[] = [];
  const remaining = [99.9, -5];
  for (const name of ['one', 'other'])
    sequence.add(name, (remainingMs) => {
      left.push(remainingMs);
      if (name === 'other') throw new Error('broken');
    });
  expect(await sequence.run(() => remaining.shift() ?? 0)).toMatchObject({
    message: 'shutdown step "other" failed',
    cause: new Error('broken'),
  });
  expect(left).toEqual([99, 0]);
  sequence.add('hangs', () => new Promise<void>(() => {}));
  expect((await sequence.run(() => 1))?.cause).toEqual(new Error('hangs did not end in time'));
});

function life() {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) });
  const lifecycle = new Lifecycle(logger);
  return { lifecycle, lines, said: () => lines.map(({ level, msg }) => [level, msg]) };
}

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

test('an end that is not clean is said', async () => {
  const { lifecycle, lines, said } = life();
  lifecycle.onStop('step', () => Promise.reject(new Error('broken')));
  await lifecycle.stop(1_000);
  expect(lines.at(-1)?.['err']).toMatchObject({
    message: expect.stringContaining('shutdown step "step" failed') as string,
  });
  expect(said().at(-1)).toEqual([50, 'shutdown was not clean']);
  expect(lifecycle.state).toBe('stopped');
});
