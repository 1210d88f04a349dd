import { expect, test } from 'vitest';
import { ShutdownSequence } from '../../../../src/daemon/process/lifecycle.ts';

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
