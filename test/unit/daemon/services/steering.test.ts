import { expect, test } from 'vitest';
import { ApiError, RequestError, TimeoutError, TransportError } from '../../../../src/client/errors.ts';
import { answerOf } from '../../../../src/daemon/services/steering.ts';

const ID = 'endpointGroups.update';

function answered(status: number): ApiError {
  const nothing = { code: undefined, fields: {}, retryAfterMs: undefined, thresholdMs: undefined };
  return new ApiError(ID, { kind: 'refused', status, message: 'no', meaning: 'other', ...nothing });
}

test.each([
  ['what is not even sent', new RequestError(ID, []), 'refused'],
  ['what the service says no to', answered(400), 'refused'],
  ['what it says no to last', answered(499), 'refused'],
  ['what failed inside of it', answered(500), 'unknown'],
  ['what a gateway did not get through', answered(502), 'unknown'],
  ['what was not answered in time', new TimeoutError(ID, 1_000), 'unknown'],
  ['what had no connection', new TransportError(ID, 'reset', new Error('gone')), 'unknown'],
  ['what nobody knows', 'a word', 'unknown'],
])('a change of parameters: %s may have been done, or is refused for sure', (_, error, kind) => {
  expect(answerOf(error)).toEqual({ kind, words: error instanceof Error ? error.message : error });
});
