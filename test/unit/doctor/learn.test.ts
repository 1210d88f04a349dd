/** What single answers tell of the service, and what they do not. */
import { expect, test } from 'vitest';
import { ThrottledError } from '../../../src/client/errors.ts';
import {
  findingsOf,
  knownFindings,
  learn,
  NOTHING_LEARNED,
  type LearnedTraits,
  type ObservedAnswer,
} from '../../../src/doctor/learn.ts';
import { refusal } from '../../support/refusal.ts';

const PROBE = 64;
const LONG = 'a line of a log that is long enough\n'.repeat(100);

function after(...answers: readonly ObservedAnswer[]): LearnedTraits {
  return answers.reduce(learn, NOTHING_LEARNED);
}

function list(code: string, refused?: ObservedAnswer['refusal']): ObservedAnswer {
  return { operation: 'deployments.list', code, ...(refused && { refusal: refused }) };
}

function log(value: Readonly<Record<string, string>>, tail: number): ObservedAnswer {
  return { operation: 'workergroups.logs', code: '200', input: { id: 7, tail }, value };
}

test('only the service itself says that it has no such operation', () => {
  expect(after(list('404', 'not-found')).traits.deployments_list).toBe('unknown');
  expect(after(list('404', 'other')).traits.deployments_list).toBeUndefined();
  expect(after(list('404', 'unauthorized')).traits.deployments_list).toBeUndefined();
  expect(after(list('503', 'other')).traits.deployments_list).toBeUndefined();
  expect(after(list('404', 'not-found'), list('200')).traits.deployments_list).toBe('answers');
});

test('a bare text is no list, whatever its status says', () => {
  expect(after(list('200', 'other')).traits).toEqual({ rate_limit: 'unseen' });
  expect(after(list('unreadable_response')).traits).toEqual({});
});

test('a limit that was once proven stays, a refused key that is taken again does not', () => {
  const limited = after(list('200'), list('429', 'throttled'), list('200'));
  expect(limited.traits.rate_limit).toBe('refused');
  expect(after(list('401', 'second-factor')).traits.tfa_key).toBe('refused');
  expect(after(list('401', 'second-factor'), list('200')).traits.tfa_key).toBe('taken');
  expect(after(list('timeout')).traits).toEqual({});
  const current = after(seen('users.current', '200', { value: {} })).traits;
  expect(current).toEqual({ rate_limit: 'unseen', tfa_key: 'taken' });
});

function throttled(rawAnswer: string, resetMs: number | undefined): ObservedAnswer {
  const rate = { limit: 1, remaining: 0, resetMs };
  const error = new ThrottledError('deployments.list', refusal({ status: 429 }), { rawAnswer, rate });
  return { operation: 'deployments.list', code: '429', refusal: 'throttled', error };
}

const seen = (operation: string, code: string, more: Partial<ObservedAnswer> = {}) =>
  ({ operation, code, ...more }) as ObservedAnswer;
const rows = (...deployments: readonly unknown[]) =>
  seen('deployments.list', '200', { value: { deployments } });

test.each<[ObservedAnswer, LearnedTraits['traits']]>([
  [throttled('{"retry_after":3}', 3_000), { throttled_shape: 'json' }],
  [throttled('{"retry_after":3}', undefined), { throttled_shape: 'json_without_headers' }],
  [throttled('{"detail":"slow"}', undefined), { throttled_shape: 'detail' }],
  [throttled('{"error":"slow"}', 3_000), { throttled_shape: 'error_with_headers' }],
  [throttled('slow down', undefined), { throttled_shape: 'plain' }],
  [rows({ id: 1, ttl: null }, { id: 2, ttl: 60 }), { deployment_ttl: 'seconds' }],
  [rows({ id: 1, ttl: null }, 'x'), { deployment_ttl: 'none' }],
  [rows({ id: 1 }), { deployment_ttl: 'absent' }],
  [seen('instances.list', '200'), { instances_v0: 'answers', tfa_key: 'taken' }],
  [seen('instances.list', '410', { refusal: 'other' }), { instances_v0: '410' }],
  [seen('instances.page', '405', { refusal: 'other' }), { instances_v1: 'unknown' }],
  [seen('serverless.endpointsSpend', '501', { refusal: 'other' }), { spend: 'unknown' }],
  [seen('deployments.heartbeat', '404', { refusal: 'expired' }), { expired_deployment: 'own_words' }],
])('an answer shows how the service behaves: %#', (answer, traits) => {
  expect(after(answer).traits).toMatchObject(traits);
});

test.each<[string, readonly ObservedAnswer[], string | undefined]>([
  ['more bytes than were asked for', [log({ logs: LONG }, 200)], 'lines'],
  [
    'a long text, and then 64 bytes of it',
    [log({ logs: LONG }, 5_000), log({ logs: LONG.slice(-PROBE) }, PROBE)],
    'bytes',
  ],
  [
    'a long text, and then 64 lines of it',
    [log({ logs: LONG }, 5_000), log({ logs: LONG.slice(0, 36 * PROBE) }, PROBE)],
    'lines',
  ],
  ['64 bytes of a text of unknown length', [log({ logs: LONG.slice(-PROBE) }, PROBE)], undefined],
  [
    '64 bytes of a text that is short',
    [log({ logs: 'one\n' }, 5_000), log({ logs: LONG.slice(-PROBE) }, PROBE)],
    undefined,
  ],
  ['a text that was wiped meanwhile', [log({ logs: LONG }, 5_000), log({ logs: 'one\n' }, PROBE)], undefined],
  [
    'a short level beside a long one',
    [log({ info0: 'one\n', debug: LONG }, 5_000), log({ info0: LONG.slice(-PROBE), debug: '' }, PROBE)],
    undefined,
  ],
  [
    'a long level beside a short one, and then a short text',
    [
      log({ info0: LONG, debug: 'one\n' }, 5_000),
      log({ info0: LONG.slice(-PROBE), debug: '' }, PROBE),
      log({ info0: 'one\n' }, 5_000),
    ],
    'bytes',
  ],
  ['an error', [log({ error_msg: LONG }, 200)], undefined],
])('%s: the unit of tail is %3$s', (_, answers, unit) => {
  expect(after(...answers).traits.tail_unit).toBe(unit);
});

test('each assumption has a sentence, whether it is known or not, and a value of another version is none', () => {
  const traits = { tail_unit: 'bytes', log_shape: 'a shape of another version' };
  const findings = findingsOf(traits);
  expect(findings.every(({ says }) => /^[A-Z`].+\.$|^tail /.test(says))).toBe(true);
  expect(knownFindings(traits)).toEqual([
    {
      trait: 'tail_unit',
      value: 'bytes',
      verdict: 'differs',
      says: 'tail counts bytes; the follower adapts.',
    },
  ]);
  expect(findings.find(({ trait }) => trait === 'log_shape')).toMatchObject({ verdict: 'unknown' });
});
