/** Time-based one-time passwords (RFC 6238): SHA-1, 6 digits, 30 seconds. Pure. */
import { Secret, TOTP } from 'otpauth';
import { randomBytes, type Random } from '../random.ts';

const DIGITS = 6;
const PERIOD_SECONDS = 30;
/** RFC 4226 recommends the length of SHA-1. */
const SECRET_BYTES = 20;
const ISSUER = 'Emulator';

export function newTotpSecret(random: Random): string {
  const { buffer } = Uint8Array.from(randomBytes(random, SECRET_BYTES));
  return new Secret({ buffer }).base32;
}

export function readTotpSecret(base32: string | null): Secret | undefined {
  if (base32 === null || !/^[A-Z2-7]+=*$/i.test(base32)) return undefined;
  const secret = Secret.fromBase32(base32);
  return secret.bytes.length > 0 ? secret : undefined;
}

export function totpCode(secret: Secret, atMs: number): string {
  return totp(secret).generate({ timestamp: atMs });
}

/** The period of this code within `steps` of `atMs`; undefined if it is not one. */
export function periodOfCode(secret: Secret, code: string, atMs: number, steps: number): number | undefined {
  const distance = totp(secret).validate({ token: code, timestamp: atMs, window: steps });
  return distance === null ? undefined : Math.floor(atMs / (PERIOD_SECONDS * 1000)) + distance;
}

export function provisioningUri(base32: string, label: string): string {
  return totp(base32, { issuer: ISSUER, label }).toString();
}

function totp(secret: Secret | string, shown: { issuer?: string; label?: string } = {}): TOTP {
  return new TOTP({ secret, algorithm: 'SHA1', digits: DIGITS, period: PERIOD_SECONDS, ...shown });
}
