/** The emulated service without its sockets, with users of every kind that §5 and §7 speak of. */
import { LIMITS } from '../../src/contract/limits.ts';
import { operationOf, type OperationId } from '../../src/contract/operations.ts';
import { type Dialect, specDialect } from '../../src/emulator/dialect.ts';
import type { Seed, SettingsInput } from '../../src/emulator/index.ts';
import { buildState } from '../../src/emulator/seed/build.ts';
import { defaultTraits } from '../../src/emulator/state/settings.ts';
import { inspect } from '../../src/emulator/admin/routes.ts';
import { createService, createWorld, catchUp } from '../../src/emulator/service.ts';

export const MINUTE = 60_000;
export const CHALLENGE_MS = LIMITS.challengeValiditySeconds * 1000;
export const WINDOW_MS = LIMITS.addMethodWindowSeconds * 1000;
export const LOCKOUT_MS = LIMITS.methodLockoutSeconds * 1000;
export const NOON = Date.UTC(2026, 5, 1, 12);

export const DEV_PHONE = '+15550000002';
const DEV_TOTP_SECRET = 'DEVDEVDEVDEVDEVDEVDEVDEVDEVDEVDE';
export const NEW_PHONE = '+15559999999';
export const LEGACY_PHONE = '+15550000004';
export const BACKUP_CODES = ['AAAA-BBBB-CCC1', 'AAAA-BBBB-CCC2', 'AAAA-BBBB-CCC3'];

const email = 'someone@example.com';

function keyOf(name: string, team = false) {
  return { name, key: name, team };
}

export const TFA_SEED: Seed = {
  users: [
    {
      id: 1,
      email,
      tfa_methods: [
        { id: 1, method: 'totp', totp_secret: DEV_TOTP_SECRET, is_primary: true },
        { id: 2, method: 'sms', phone_number: DEV_PHONE },
      ],
      backup_codes: BACKUP_CODES,
      api_keys: [keyOf('dev'), keyOf('team', true)],
    },
    { id: 2, email, api_keys: [keyOf('fresh')] },
    {
      id: 3,
      email,
      email_verified: false,
      tfa_methods: [
        { id: 30, method: 'sms', phone_number: '+15550000030', is_primary: true },
        { id: 31, method: 'totp' },
      ],
      backup_codes: BACKUP_CODES,
      api_keys: [keyOf('unverified')],
    },
    { id: 4, email, legacy_2fa: true, phone_number: LEGACY_PHONE, api_keys: [keyOf('legacy')] },
    {
      id: 5,
      email,
      email_verified: false,
      is_admin: true,
      tfa_methods: [{ id: 50, method: 'sms', phone_number: '+15550000050', is_primary: true }],
      backup_codes: BACKUP_CODES,
      api_keys: [keyOf('admin')],
    },
    { id: 7, api_keys: [keyOf('no-email')] },
    {
      id: 8,
      email,
      tfa_methods: [{ id: 80, method: 'totp', totp_secret: 'not base32!', is_primary: true }],
      api_keys: [keyOf('broken')],
    },
    {
      id: 9,
      email,
      tfa_methods: [
        { id: 90, method: 'sms', phone_number: '+15550000090', is_primary: true },
        { id: 91, method: 'sms', phone_number: '+15550000091' },
        { id: 92, method: 'totp' },
        { id: 93, method: 'totp' },
      ],
      api_keys: [keyOf('twins')],
    },
    { id: 10, email, legacy_2fa: true, api_keys: [keyOf('legacy-without-phone')] },
    {
      id: 11,
      email,
      tfa_methods: [{ id: 110, method: 'sms', is_primary: true }],
      api_keys: [keyOf('sms-without-phone')],
    },
  ],
};

export interface Answered {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of many shapes
  readonly body: any;
  readonly headers: Readonly<Record<string, string>>;
}

export type Lab = ReturnType<typeof createLab>;

export function createLab(settings: SettingsInput = {}, dialect: Dialect = specDialect, seed = TFA_SEED) {
  let nowMs = NOON;
  const world = createWorld(
    buildState(seed, settings, nowMs, defaultTraits(dialect.name)),
    dialect,
    () => nowMs,
  );
  const service = createService(world);
  const inspected = inspect(world);
  const { outbox } = inspected;

  /** A request as it comes from the wire; `key` null: without a Bearer. */
  function send(method: string, url: string, bodyText: string, key: string | null): Answered {
    const authorization = key === null ? undefined : `Bearer ${key}`;
    const answer = service.perform(service.read({ method, url, authorization, bodyText }));
    const { status, text, headers = {} } = answer;
    return { status, headers, body: text.startsWith('{') ? (JSON.parse(text) as unknown) : text };
  }

  /** Calls an operation of 2FA; default: as `dev`. */
  function call(id: OperationId, input: Record<string, unknown> = {}, key: string | null = 'dev'): Answered {
    const { method, path, body } = operationOf(id);
    return send(method, path, body ? JSON.stringify(input) : '', key);
  }

  function ok(id: OperationId, input: Record<string, unknown> = {}, key: string | null = 'dev') {
    const answer = call(id, input, key);
    if (answer.status !== 200) throw new Error(`${id}: ${answer.status} ${JSON.stringify(answer.body)}`);
    // oxlint-disable-next-line typescript/no-unsafe-return -- as Answered.body
    return answer.body;
  }

  /** The code with which a call is refused. */
  function error(...request: Parameters<typeof call>): unknown {
    return (call(...request).body as { error?: unknown }).error;
  }

  /** An e-mail or SMS code and its secret, as the fields of a proof. */
  function sent(id: OperationId, input: Record<string, unknown> = {}, key: string | null = 'dev') {
    const { secret } = ok(id, input, key) as { secret: string };
    return { secret, code: outbox.latest().code };
  }

  /** Opens the add-method window of a user that has a verified e-mail address. */
  function authorize(key: string): void {
    ok('tfa.confirmAuthorization', sent('tfa.authorizeNewMethod', { tfa_method: 'email' }, key), key);
  }

  return {
    world,
    send,
    call,
    ok,
    error,
    sent,
    authorize,
    ...inspected,
    now: () => nowMs,
    /** Moves the clock, back too, as the emulator's own does. */
    advance(ms: number) {
      catchUp(world, nowMs);
      nowMs += ms;
    },
  };
}

/** A code that is not the right one. */
export function wrong(code: string): string {
  return code === '000000' ? '111111' : '000000';
}
