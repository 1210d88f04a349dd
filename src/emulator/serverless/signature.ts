/** The service's own key, with which it signs where a request may go. */
import { createSign, createVerify, generateKeyPairSync, type KeyObject } from 'node:crypto';

export interface Signer {
  /** base64 of RSA PKCS#1 v1.5 with SHA-256. */
  sign(text: string): string;
  /** Whether that is a signature of this text. */
  verify(text: string, signature: string): boolean;
  /** For those who check signatures, PEM. */
  publicKey(): string;
}

const MODULUS_BITS = 2048;

/** The key is made when it is needed first: that takes a tenth of a second, and few need it. */
export function createSigner(): Signer {
  let pair: { readonly privateKey: KeyObject; readonly publicKey: KeyObject } | undefined;
  const keys = () => (pair ??= generateKeyPairSync('rsa', { modulusLength: MODULUS_BITS }));
  return {
    sign: (text) => createSign('sha256').update(text).sign(keys().privateKey, 'base64'),
    verify: (text, signature) =>
      createVerify('sha256').update(text).verify(keys().publicKey, signature, 'base64'),
    publicKey: () => keys().publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}
