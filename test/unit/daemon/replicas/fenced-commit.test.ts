import { expect, test } from 'vitest';
import { commitFenced, LeaseLost } from '../../../../src/daemon/replicas/fenced-commit.ts';

const FENCE = { lease: 'the lease', token: 'own', version: 'commits', from: 4, to: 5 };
const COMMANDS = [
  ['SET', 'a', '1'],
  ['DEL', 'b'],
];

function answering(answer: unknown) {
  const asked: (readonly string[])[] = [];
  const command = async (...words: readonly string[]): Promise<unknown> => {
    asked.push(words);
    return answer;
  };
  return { asked, redis: { command, close() {} } };
}

test('a commit goes with its lease and version, and each command with its length', async () => {
  const { asked, redis } = answering(1);
  await commitFenced(redis, FENCE, COMMANDS);
  const [eval_, script, ...rest] = asked[0] ?? [];
  expect([eval_, asked.length]).toEqual(['EVAL', 1]);
  expect(script).toContain('local at = 4');
  expect(rest).toEqual([
    '3',
    'the lease',
    'commits',
    'commits:writer',
    'own',
    '4',
    '5',
    '3',
    'SET',
    'a',
    '1',
    '2',
    'DEL',
    'b',
  ]);
});

test.each([
  [-1, 'the lease has gone to another replica'],
  [-2, 'Redis has not what was written to it last'],
])('answer %i is a refusal', async (answer, message) => {
  const failed = await commitFenced(answering(answer).redis, FENCE, []).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(LeaseLost);
  expect(failed).toMatchObject({ code: 'lease_lost', message, actor: 'service' });
});
