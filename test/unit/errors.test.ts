/** Every error class of src/: one base, a code of its own, and who must act. */
import { globSync, readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { DaemonAway } from '../../src/cli/fleet/daemon.ts';
import { CommandError, InputError } from '../../src/cli/console.ts';
import {
  AbortedError,
  ApiError,
  ArchiveError,
  RequestError,
  ResponseError,
  ThrottledError,
  TimeoutError,
  TransportError,
  UnauthorizedError,
  UploadError,
} from '../../src/client/errors.ts';
import { LaunchError, LeftBehindError } from '../../src/client/flows/launch.ts';
import { ClientOptionsError } from '../../src/client/caller.ts';
import { PilotlightError } from '../../src/contract/pilotlight-error.ts';
import { FlagError } from '../../src/contract/text/shell-words.ts';
import { SocketFileError } from '../../src/daemon/http/bind.ts';
import { SeedError, TraitsError } from '../../src/emulator/seed/seed.ts';
import { Refused } from '../../src/emulator/answer.ts';
import { SinkBusy } from '../../src/logs/sinks/sink.ts';
import { RedisError } from '../../src/daemon/replicas/redis.ts';
import { NoRegularFile } from '../../src/logs/sinks/file.ts';
import { NoAnswer } from '../../src/time/clock.ts';
import { EmptyList } from '../../src/fleet/observed-endpoint.ts';
import { FileInUse, NewerFile, UnreadableFile } from '../../src/storage/database-file.ts';
import { EpochOver } from '../../src/logs/spool/spool.ts';
import { root } from '../support/optional.ts';
import { refusal } from '../support/refusal.ts';

const REFUSAL = refusal({ status: 429 });

/** One of each. */
const ERRORS: readonly PilotlightError[] = [
  new RequestError('users.current', []),
  new ApiError('users.current', REFUSAL),
  new UnauthorizedError('users.current', REFUSAL),
  new ThrottledError('users.current', REFUSAL),
  new TransportError('users.current', 'other', new Error('cause')),
  new TimeoutError('users.current', 1),
  new AbortedError('users.current', 'aborted'),
  new ResponseError('users.current', 200, 'not JSON'),
  new LaunchError([]),
  new LeftBehindError({ instanceIds: [505], offerId: undefined }, undefined),
  new ClientOptionsError([]),
  new ArchiveError('code.tar.gz', 'is empty'),
  new UploadError('the store did not take the archive: status 403', { status: 403 }),
  new FlagError(1, 'rule'),
  new SeedError('seed'),
  new TraitsError('traits'),
  new Refused('not_found', 'no such thing', 'id'),
  new SinkBusy('busy', { retryAfterMs: undefined, advice: undefined }),
  new NewerFile(3, 2),
  new NoAnswer('no answer'),
  new NoRegularFile('a pipe'),
  new RedisError('redis_away'),
  new EmptyList('empty'),
  new FileInUse('in use'),
  new UnreadableFile('unreadable'),
  new EpochOver(2),
  new InputError('input'),
  new CommandError('failed', 1),
  new DaemonAway('away'),
  new SocketFileError('socket'),
];

/** Name and base of each class of src/ that is an error, by its declaration. */
function declaredErrors(): { readonly name: string; readonly base: string; readonly isAbstract: boolean }[] {
  const classes = globSync('src/**/*.ts', { cwd: root }).flatMap((path) =>
    [...readFileSync(`${root}${path}`, 'utf8').matchAll(/(abstract )?class (\w+) extends (\w+)/g)].map(
      ([, isAbstract, name = '', base = '']) => ({ name, base, isAbstract: isAbstract !== undefined }),
    ),
  );
  const errors = new Set<string>(['Error', 'TypeError', 'RangeError', 'AggregateError']);
  for (let before = 0; before < errors.size;) {
    before = errors.size;
    for (const { name, base } of classes) if (errors.has(base)) errors.add(name);
  }
  return classes.filter(({ name }) => errors.has(name));
}

test('one class alone extends Error, and every other has its example here', () => {
  const declared = declaredErrors();
  expect(declared.filter(({ base }) => base.endsWith('Error') && base in globalThis)).toEqual([
    { name: 'PilotlightError', base: 'Error', isAbstract: true },
  ]);
  const concrete = declared.filter(({ isAbstract }) => !isAbstract).map(({ name }) => name);
  expect(ERRORS.map(({ name }) => name).toSorted()).toEqual(concrete.toSorted());
});

describe.each(ERRORS.map((error) => [error.name, error] as const))('%s', (name, error) => {
  test('has a code, says who must act, and is named as its class', () => {
    expect(error).toBeInstanceOf(PilotlightError);
    expect(error.code).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
    expect(['user', 'service', 'bug']).toContain(error.actor);
    expect(error.constructor.name).toBe(name);
  });
});

test('an answer that could not be read is handed over, and found by nobody who does not ask for it', () => {
  const error = new ResponseError('apiKeys.create', 200, 'not JSON', { rawAnswer: '{"key":"s3cret' });
  expect(error.rawAnswer()).toBe('{"key":"s3cret');
  const line: string[] = [];
  pino({ level: 'trace' }, { write: (text) => line.push(text) }).error({ err: error, error }, 'failed');
  const inherited: unknown[] = [];
  for (const name in error) inherited.push((error as unknown as Record<string, unknown>)[name]);
  const shown = [
    error.message,
    String(error),
    error.stack,
    JSON.stringify(error),
    JSON.stringify(Object.getOwnPropertyDescriptors(error)),
    inspect(error, { showHidden: true, depth: Infinity, getters: true }),
    inspect(new Error('outer', { cause: error }), { showHidden: true, depth: Infinity }),
    inspect(structuredClone(error), { showHidden: true }),
    inspect(Object.assign({}, error)),
    inspect(inherited),
    ...line,
  ];
  expect(line.join('')).toContain('unreadable_response');
  expect(shown.filter((text) => text?.includes('s3cret'))).toEqual([]);
});

test('no two classes share a code', () => {
  const codes = ERRORS.map(({ code }) => code);
  expect(new Set(codes).size).toBe(codes.length);
});
