import { expect, test } from 'vitest';
import {
  commitBeside,
  commitFenced,
  LeaseLost,
  StaleVersion,
} from '../../../../src/daemon/replicas/fenced-commit.ts';

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
  expect(rest).toEqual(['2', 'the lease', 'commits', 'own', '4', '5', '3', 'SET', 'a', '1', '2', 'DEL', 'b']);
});

test.each<[number, typeof LeaseLost, string, string]>([
  [-1, LeaseLost, 'lease_lost', 'the lease has gone to another replica'],
  [-2, StaleVersion, 'stale_version', 'Redis has not what was written to it last'],
])('answer %i is a refusal', async (answer, kind, code, message) => {
  const failed = await commitFenced(answering(answer).redis, FENCE, []).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(kind);
  expect(failed).toMatchObject({ code, message, actor: 'service' });
});

test('what is true beside anything goes without a lease', async () => {
  const { asked, redis } = answering(null);
  await commitBeside(redis, COMMANDS);
  const [, script, ...rest] = asked[0] ?? [];
  expect(script).toContain('local at = 1');
  expect(rest).toEqual(['0', '3', 'SET', 'a', '1', '2', 'DEL', 'b']);
});
