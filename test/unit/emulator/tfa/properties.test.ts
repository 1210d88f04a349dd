/**
 * What holds whatever anybody calls in whatever order, with right codes, wrong ones and old ones, while time
 * goes by. The record of what happened is the test's own; nothing of it is read from the emulator's state.
 */
import * as fc from '../../../support/fast-check.ts';
import { expect, test } from 'vitest';
import { COMMON_ERRORS } from '../../../../src/contract/errors.ts';
import { operationOf, type OperationId } from '../../../../src/contract/operations.ts';
import {
  CHALLENGE_MS,
  createLab,
  LOCKOUT_MS,
  MINUTE,
  NEW_PHONE,
  WINDOW_MS,
  wrong,
  type Answered,
  type Lab,
} from '../../../support/two-factor.ts';

type Way = 'totp' | 'sms' | 'email' | 'backup';
type Verifying = 'tfa.login' | 'tfa.remove' | 'tfa.regenerateBackupCodes';

type Step =
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'send'; readonly id: OperationId; readonly to: string | undefined }
  | {
      readonly do: 'verify';
      readonly id: Verifying;
      readonly way: Way;
      readonly right: boolean;
      readonly pick: number;
      readonly target: number | undefined;
    }
  | { readonly do: 'begin'; readonly way: Way; readonly pick: number }
  | { readonly do: 'confirm'; readonly right: boolean; readonly pick: number }
  | { readonly do: 'add'; readonly way: 'totp' | 'sms'; readonly pick: number };

const pick = fc.nat(30);
const way = fc.constantFrom<Way>('totp', 'sms', 'email', 'backup');
const mostlyWrong = fc.oneof({ weight: 2, arbitrary: fc.constant(false) }, fc.boolean());
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('wait' as const),
    ms: fc.constantFrom(1_000, 30_000, 4 * MINUTE, CHALLENGE_MS - 1, LOCKOUT_MS, WINDOW_MS),
  }),
  fc.record({
    do: fc.constant('send' as const),
    id: fc.constantFrom<OperationId>('tfa.sendEmail', 'tfa.sendSms', 'tfa.resendSms'),
    to: fc.constantFrom(undefined, undefined, NEW_PHONE),
  }),
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('verify' as const),
      id: fc.constantFrom<Verifying>('tfa.login', 'tfa.login', 'tfa.remove', 'tfa.regenerateBackupCodes'),
      way,
      right: mostlyWrong,
      pick,
      target: fc.constantFrom(undefined, 1, 2),
    }),
  },
  fc.record({ do: fc.constant('begin' as const), way, pick }),
  fc.record({ do: fc.constant('confirm' as const), right: fc.boolean(), pick }),
  fc.record({ do: fc.constant('add' as const), way: fc.constantFrom('totp' as const, 'sms' as const), pick }),
);

interface SentCode {
  readonly channel: 'sms' | 'email';
  readonly to: string;
  readonly code: string;
  readonly atMs: number;
}

/** Plays steps for one user, and keeps its own books. */
function play(lab: Lab, key: string) {
  /** Secret → the last code that was sent for it. */
  const sentCodes = new Map<string, SentCode>();
  const usedSecrets = new Set<string>();
  const usedBackupCodes = new Set<string>();
  const backupCodes = [...lab.tfa.backupCodes(key === 'dev' ? 1 : 2)];
  const pending: string[] = [];
  let validBackupCodes = new Set(backupCodes);
  let authorizedAtMs = -Infinity;

  function call(id: OperationId, input: Record<string, unknown>): Answered {
    const before = methods();
    const seq = lab.outbox.messages().length;
    const answer = lab.call(id, input, key);
    checkDeclared(id, answer);
    if (answer.status !== 200) checkOneCounter(before);
    const message = lab.outbox.messages()[seq];
    if (message) sentCodes.set(String(answer.body.secret), { ...message, atMs: lab.now() });
    const issued = answer.body.backup_codes as string[] | undefined;
    if (issued) {
      backupCodes.push(...issued);
      validBackupCodes = new Set(issued);
    }
    return answer;
  }

  function methods(): { id: number; method: string; fail_count: number; locked_until: number | null }[] {
    // oxlint-disable-next-line typescript/no-unsafe-return -- the contract's own check has passed it
    return lab.ok('tfa.status', {}, key).methods;
  }

  /** A refusal counts one failure of one method at most, and locks no other. */
  function checkOneCounter(before: ReturnType<typeof methods>): void {
    const after = methods();
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    const changed = after.filter((method, index) => JSON.stringify(method) !== JSON.stringify(before[index]));
    expect(changed.length).toBeLessThanOrEqual(1);
    for (const { id, fail_count } of changed) {
      expect(fail_count).toBe((before.find((method) => method.id === id)?.fail_count ?? 0) + 1);
    }
  }

  function proofOf({ way: by, right, pick: index }: { way: Way; right: boolean; pick: number }) {
    if (by === 'backup') {
      const code = backupCodes[index % (backupCodes.length + 1)];
      return { backup_code: right && code !== undefined ? code : 'AAAA-AAAA-AAAA' };
    }
    if (by === 'totp') {
      const method = methods().find((one) => one.method === 'totp');
      const code = method ? lab.totp(method.id) : '123456';
      return { tfa_method: 'totp', code: right ? code : wrong(code) };
    }
    const secrets = [...sentCodes].filter(([, { channel }]) => channel === by);
    const [secret, sent] = secrets[index % (secrets.length + 1)] ?? ['nobody', undefined];
    const code = sent?.code ?? '123456';
    return { tfa_method: by, secret, code: right ? code : wrong(code) };
  }

  /** A proof that passed was good: not used before, not too old, and the one that was sent last. */
  function checkPassed(proof: Record<string, string>): void {
    const { backup_code: backupCode, secret, tfa_method: type, code } = proof;
    if (backupCode !== undefined) {
      expect(usedBackupCodes).not.toContain(backupCode);
      usedBackupCodes.add(backupCode);
      return;
    }
    if (type === 'totp') return;
    const sent = sentCodes.get(String(secret));
    expect(usedSecrets).not.toContain(secret);
    expect(sent).toMatchObject({ code });
    expect(sent?.to).not.toBe(NEW_PHONE);
    expect(lab.now() - (sent?.atMs ?? 0)).toBeLessThan(CHALLENGE_MS);
    usedSecrets.add(String(secret));
  }

  function run(next: Step): void {
    switch (next.do) {
      case 'wait':
        return lab.advance(next.ms);
      case 'send':
        call(next.id, next.id !== 'tfa.sendEmail' && next.to ? { phone_number: next.to } : {});
        return;
      case 'verify': {
        const proof = proofOf(next);
        const target = next.id === 'tfa.remove' && next.target ? { target_id: next.target } : {};
        const usable = proof.backup_code === undefined || validBackupCodes.has(proof.backup_code);
        const { status } = call(next.id, { ...proof, ...target });
        if (status !== 200) return;
        expect(usable).toBe(true);
        return checkPassed(proof);
      }
      case 'begin': {
        const proof = next.way === 'backup' ? proofOf({ ...next, right: true }) : { tfa_method: next.way };
        const { status, body } = call('tfa.authorizeNewMethod', proof);
        if (status !== 200) return;
        if (body.secret) pending.push(body.secret);
        else {
          checkPassed(proof);
          authorizedAtMs = lab.now();
        }
        return;
      }
      case 'confirm': {
        const secret = pending[next.pick % (pending.length + 1)] ?? 'nobody';
        const sent = sentCodes.get(secret);
        const app = methods().find((one) => one.method === 'totp');
        const code = sent?.code ?? (app ? lab.totp(app.id) : '123456');
        const given = next.right ? code : wrong(code);
        if (call('tfa.confirmAuthorization', { secret, code: given }).status !== 200) return;
        expect(next.right).toBe(true);
        if (sent) checkPassed({ secret, code: given });
        authorizedAtMs = lab.now();
        return;
      }
      case 'add': {
        const isSms = next.way === 'sms';
        const bySms = isSms ? proofOf({ ...next, right: true }) : undefined;
        const secret = bySms?.secret ?? (lab.ok('tfa.setupTotp', {}, key).secret as string);
        const code = bySms?.code ?? lab.totp(secret);
        const phone = isSms ? { phone_number: sentCodes.get(secret)?.to ?? NEW_PHONE } : {};
        const { status } = call('tfa.confirmNew', { tfa_method: next.way, secret, code, ...phone });
        if (status !== 200) return;
        expect(lab.now() - authorizedAtMs).toBeLessThan(WINDOW_MS);
        if (isSms) usedSecrets.add(secret);
      }
    }
  }

  return {
    run(next: Step) {
      run(next);
      const open = lab.now() - authorizedAtMs < WINDOW_MS;
      expect(lab.ok('tfa.status', {}, key).new_method_authorized).toBe(open);
    },
    methods,
  };
}

function checkDeclared(id: OperationId, { status, body }: Answered): void {
  if (status === 200) return;
  expect([...operationOf(id).errors, ...COMMON_ERRORS], JSON.stringify(body)).toContain(body.error);
  expect(status, JSON.stringify(body)).not.toBe(500);
}

/** Enough SMS that only the rules under test say no. */
const SETTINGS = { tfaFailuresAllowed: 1, smsPerWindow: 1_000, phoneCap: 1_000 };

test.each(['dev', 'fresh'])('no order of calls gets %s in by what is wrong, used or old', (key) => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
      const player = play(createLab(SETTINGS), key);
      for (const next of steps) player.run(next);
    }),
    { numRuns: 100 },
  );
});

test('no order of calls keeps anybody out who has right codes once the locks have passed', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
      const lab = createLab(SETTINGS);
      const player = play(lab, 'dev');
      for (const next of steps) player.run(next);
      lab.advance(LOCKOUT_MS);
      for (const { id, method } of player.methods()) {
        const proof =
          method === 'totp' ? { code: lab.totp(id) } : lab.sent('tfa.sendSms', { tfa_method_id: id });
        lab.ok('tfa.login', { tfa_method_id: id, ...proof });
      }
      if (player.methods().length > 0)
        lab.ok('tfa.login', { tfa_method: 'email', ...lab.sent('tfa.sendEmail') });
    }),
    { numRuns: 100 },
  );
});

test('while one method is locked all others let in', () => {
  fc.assert(
    fc.property(fc.constantFrom(90, 91, 92, 93), fc.nat(5), (locked, more) => {
      const lab = createLab(SETTINGS);
      const proof = (id: number) =>
        id >= 92 ? { code: lab.totp(id) } : lab.sent('tfa.sendSms', { tfa_method_id: id }, 'twins');
      const { code, ...given } = proof(locked);
      for (let time = 0; time < 2 + more; time += 1) {
        lab.call('tfa.login', { tfa_method_id: locked, ...given, code: wrong(code) }, 'twins');
      }
      const refused = lab.call('tfa.login', { tfa_method_id: locked, ...given, code }, 'twins');
      expect(refused.body).toMatchObject({ error: 'tfa_locked', fail_count: 2 });
      for (const id of [90, 91, 92, 93].filter((other) => other !== locked)) {
        lab.ok('tfa.login', { tfa_method_id: id, ...proof(id) }, 'twins');
      }
    }),
  );
});
