import { Secret, URI } from 'otpauth';
import { expect, test } from 'vitest';
import { createRandom } from '../../../../src/scaling/planner/load.ts';
import {
  isCurrent,
  newTotpSecret,
  provisioningUri,
  readTotpSecret,
  totpCode,
} from '../../../../src/emulator/tfa/account.ts';

// Appendix B of RFC 6238: SHA-1, its 8 digits shortened to 6.
test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
])('at %i s the code is that of RFC 6238', (seconds, code) => {
  const secret = Secret.fromLatin1('12345678901234567890');
  expect(totpCode(secret, seconds * 1000)).toBe(code);
  expect(isCurrent(secret, code, seconds * 1000, 0)).toBe(true);
  expect(isCurrent(secret, code, (seconds + 30) * 1000, 0)).toBe(false);
  expect(isCurrent(secret, code, (seconds + 30) * 1000, 1)).toBe(true);
});

test('a new secret has 160 bits, and an authenticator app can read its URI', () => {
  const base32 = newTotpSecret(createRandom(1));
  expect(readTotpSecret(base32)?.bytes).toHaveLength(20);
  const uri = provisioningUri(base32, 'dev@example.com');
  expect(uri).toMatch(/^otpauth:\/\/totp\//);
  expect(URI.parse(uri)).toMatchObject({ label: 'dev@example.com', digits: 6, period: 30 });
  expect(URI.parse(uri).secret.base32).toBe(base32);
});

test.each([null, '', '=', 'A', 'not base32', '1189'])('%j is no secret', (base32) => {
  expect(readTotpSecret(base32)).toBeUndefined();
});
