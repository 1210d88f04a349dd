import { expect, test } from 'vitest';
import { exitCodeOf } from '../../../src/cli/exit-code.ts';
import {
  AbortedError,
  RequestError,
  ResponseError,
  TimeoutError,
  TransportError,
  refusalError,
} from '../../../src/client/errors.ts';
import { exitCodeOfSignal } from '../../../src/config/exit-codes.ts';
import { operationOf } from '../../../src/contract/operations.ts';
import { decodeResponse } from '../../../src/wire/response.ts';

const ID = 'tfa.login';

function refused(status: number, body: object | string) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const outcome = decodeResponse(operationOf(ID), { status, text, headers: {} });
  if (outcome.kind !== 'refused') throw new Error(outcome.kind);
  return refusalError(ID, outcome);
}

test.each([
  ['no connection', new TransportError(ID, 'refused', new Error('x')), 3],
  ['no answer in time', new TimeoutError(ID, 1_000), 3],
  ['a key that is not valid', refused(401, ''), 4],
  ['a key that may not do it', refused(403, { error: 'forbidden', msg: 'no' }), 4],
  ['a 403 that nobody knows', refused(403, '<html>'), 4],
  ['a second factor that is wrong', refused(401, { error: '2fa_login_failed', msg: 'no' }), 1],
  ['a backup code that is wrong', refused(401, { error: 'invalid_backup_code', msg: 'no' }), 1],
  ['a second factor that is missing', refused(403, { error: 'authorization_required', msg: 'no' }), 1],
  ['what is not there', refused(404, { error: 'not_found', msg: 'no' }), 1],
  ['a failure of the service', refused(503, ''), 1],
  ['an answer that cannot be read', new ResponseError(ID, 200, 'not JSON'), 1],
  ['input that is wrong', new RequestError(ID, []), 2],
  ['Ctrl-C', new AbortedError(ID, 'aborted'), 130],
])('%s', (_name, error, code) => {
  expect(exitCodeOf(error)).toBe(code);
});

test('a signal ends as a shell reports it', () => {
  const names = ['SIGINT', 'SIGKILL', 'SIGTERM'] as const;
  expect(names.map((name) => exitCodeOfSignal(name))).toEqual([130, 137, 143]);
});
