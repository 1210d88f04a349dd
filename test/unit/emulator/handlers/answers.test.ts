/** One request each to the default seed: what is answered, and where it is refused, why. */
import { expect, test } from 'vitest';
import { publicDialect, specDialect } from '../../../../src/emulator/dialect.ts';
import { DEFAULT_SEED } from '../../../../src/emulator/seed/seed.ts';
import { createLab } from '../../../support/two-factor.ts';
import { ANSWERS } from './answers.ts';
import { REFUSALS } from './refusals.ts';

function answerTo(request: string, dialect: string) {
  const [, key = 'emulator-key', method = '', path = '', sent = ''] =
    /^(?:(\S+): )?(\S+) (\S+) ?(.*)$/.exec(request) ?? [];
  const lab = createLab({}, dialect === 'public' ? publicDialect : specDialect, DEFAULT_SEED);
  const { status, body, headers } = lab.send(method, path, sent, key === 'nobody' ? null : key);
  // A bare text, or a list.
  const value: unknown = typeof body === 'string' ? JSON.parse(body) : body;
  return { status, value, reason: headers['x-emulator-reason'] };
}

test.each(ANSWERS)('%s', (request, value) => {
  const { reason, ...answer } = answerTo(request, 'public');
  expect(answer).toEqual({ status: 200, value });
  // Some of its errors the public dialect reports with status 200.
  const isError =
    typeof value === 'string'
      ? value !== 'Successfully Deleted API Key'
      : Object.hasOwn(Object(value), 'error_msg');
  expect(reason !== undefined).toBe(isError);
});

test.each(REFUSALS)('%s', (row) => {
  const [dialect = '', request = '', said = '', rule = ''] = row.split(' | ');
  const { status, value, reason } = answerTo(request, dialect);
  const { error, msg, success, ...others } = value as Record<string, unknown>;
  expect([`${status} ${String(error)}: ${String(msg)}`, reason]).toEqual([said, rule]);
  expect(success).toBe(dialect === 'public' ? false : undefined);
  const asked = dialect === 'public' ? /\/asks\/(\d+)\//.exec(request)?.[1] : undefined;
  expect(others).toEqual(asked === undefined ? {} : { ask_id: Number(asked) });
});
