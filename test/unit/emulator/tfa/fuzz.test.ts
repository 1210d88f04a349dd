/** Whatever is sent: no 500 that is not the interface's own, and no error that the operation does not declare. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { COMMON_ERRORS, ERRORS, type ErrorCode } from '../../../../src/contract/errors.ts';
import { OPERATION_IDS, operationOf } from '../../../../src/contract/operations.ts';
import { publicDialect, specDialect } from '../../../../src/emulator/dialect.ts';
import { BACKING_STORES, SMS_PROVIDERS } from '../../../../src/emulator/state/state.ts';
import {
  BACKUP_CODES,
  createLab,
  DEV_PHONE,
  DEV_TOTP_SECRET,
  MINUTE,
  NEW_PHONE,
  TFA_SEED,
  type Lab,
} from '../../../support/two-factor.ts';

const TFA_OPERATIONS = OPERATION_IDS.filter((id) => id.startsWith('tfa.'));
const KEYS = (TFA_SEED.users ?? []).flatMap((user) => (user.api_keys ?? []).map(({ key }) => key));

/** Values that only the state knows stand as words in braces until the request is made. */
const field = {
  tfa_method: fc.constantFrom('sms', 'totp', 'email', 'pigeon', null, 5),
  code: fc.constantFrom('{code}', '{totp}', '123456', '12345', 123_456, null),
  secret: fc.constantFrom('{secret}', '{login}', 'nobody', 'JBSWY3DPEHPK3PXP', '', 7, null),
  tfa_method_id: fc.constantFrom(1, 2, 30, 90, 999, '1', -1, 1.5, null),
  target_id: fc.constantFrom(1, 2, 90, 999, '2', null),
  backup_code: fc.constantFrom(...BACKUP_CODES, 'AAAA-AAAA-AAAA', 'no code', '', 1, null),
  phone_number: fc.constantFrom(DEV_PHONE, NEW_PHONE, '+1', 'home', null),
  label: fc.constantFrom('work', '', 'x'.repeat(30), 'x'.repeat(31), null),
  is_primary: fc.constantFrom(true, false, 'true', null),
  admin: fc.constantFrom(true, false, 'yes', null),
};
/** Requests that are right as far as their state lets them be. */
const right = fc.constantFrom(
  {},
  { tfa_method: 'totp', code: '{totp}' },
  { tfa_method: 'totp', code: '{totp}', target_id: 2, label: 'app', is_primary: true },
  { tfa_method: 'sms', code: '{code}', secret: '{secret}', phone_number: NEW_PHONE },
  { tfa_method: 'email', code: '{code}', secret: '{secret}' },
  { backup_code: BACKUP_CODES[0], target_id: 1 },
  { secret: '{login}' },
);
const body = fc.oneof(
  { weight: 8, arbitrary: right.map((fields) => JSON.stringify(fields)) },
  { weight: 8, arbitrary: fc.record(field, { requiredKeys: [] }).map((fields) => JSON.stringify(fields)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.constantFrom('', '{', 'null', '[]', '"secret"', '{"__proto__": 1}') },
);
const request = fc.record({
  operation: fc.constantFrom(...TFA_OPERATIONS),
  body,
  /** Whether only fields are sent that the operation knows. */
  fitting: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
  key: fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom('dev', 'twins', 'fresh') },
    { weight: 1, arbitrary: fc.constantFrom(...KEYS, null, null, 'nobody', '{session}') },
  ),
  waitMs: fc.constantFrom(0, 0, 0, MINUTE, 20 * MINUTE),
  state: fc.option(
    fc.record({
      sms_provider: fc.constantFrom('up', 'up', 'up', ...SMS_PROVIDERS),
      store: fc.constantFrom('up', 'up', 'up', ...BACKING_STORES),
    }),
    { freq: 5 },
  ),
});

/** Fills in what an attentive client would know. */
function fill(text: string, lab: Lab, secret: string, login: string): string {
  const code = lab.outbox.messages().at(-1)?.code ?? '123456';
  const words: Record<string, string> = { code, totp: lab.totp(DEV_TOTP_SECRET), secret, login };
  return text.replaceAll(/"\{(\w+)\}"/g, (_, name: string) => JSON.stringify(words[name]));
}

function onlyKnown(text: string, known: Readonly<Record<string, unknown>>): string {
  const value: unknown = text.startsWith('{"') ? JSON.parse(text) : undefined;
  if (typeof value !== 'object' || value === null) return text;
  return JSON.stringify(
    Object.fromEntries(
      Object.entries(value).filter(([name, given]) => Object.hasOwn(known, name) && given !== null),
    ),
  );
}

test.each([specDialect, publicDialect])('random requests in the $name dialect', (dialect) => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.array(request, { minLength: 10, maxLength: 60 }), (requests) => {
      const lab = createLab({ tfaFailuresAllowed: 1, sessionSeconds: 600 }, dialect);
      let secret = 'none yet';
      let session = 'none yet';
      let login = lab.tfa.startLogin(1).tfa_secret;
      for (const { operation, body: raw, fitting, key, waitMs, state } of requests) {
        if (state) lab.tfa.set(state);
        lab.advance(waitMs);
        if (waitMs > 0) login = lab.tfa.startLogin(1).tfa_secret;
        const { method, path, errors, body: schema } = operationOf(operation);
        const known = fitting ? (schema ? onlyKnown(raw, schema.shape) : '') : raw;
        const text = fill(known, lab, secret, login);
        const answer = lab.send(method, path, text, key === '{session}' ? session : key);
        if (answer.status === 200) {
          seen.add(`${operation} 200`);
          secret = String(answer.body.secret ?? secret);
          session = String(answer.body.session_key ?? session);
          continue;
        }
        // The public dialect has a word of its own for this bad request.
        const word = String(answer.body.error).replace('label_too_long', 'bad_request');
        const code = word as ErrorCode;
        seen.add(`${operation} ${code}`);
        const said = `${operation} ${text} → ${answer.status} ${JSON.stringify(answer.body)}`;
        expect([...errors, ...COMMON_ERRORS], said).toContain(code);
        expect(code, said).not.toBe('internal_error');
        if (dialect === specDialect) expect(ERRORS[code].status, said).toContain(answer.status);
      }
    }),
    { numRuns: 100 },
  );
  // The requests get far enough to mean something.
  for (const operation of ['tfa.login', 'tfa.remove', 'tfa.sendSms', 'tfa.sendEmail', 'tfa.update']) {
    expect(seen).toContain(`${operation} 200`);
  }
  expect(seen.size).toBeGreaterThan(100);
});
