/** What the emulated service works on: its state, its time and chance, its engines, and the key that it signs with. */
import { createSign, createVerify, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Dialect } from '../dialect/dialect.ts';
import { Fleets } from '../fleet/fleets.ts';
import { settleEndpoints } from '../handlers/endpoint-groups.ts';
import { createRandom, type Random } from '../random.ts';
import { settleDeployment } from '../state/deployments.ts';
import type { State } from '../state/state.ts';
import { settleTfa } from '../tfa/account.ts';

/** `state` is swapped as a whole by reset and restore. */
export interface World {
  state: State;
  readonly dialect: Dialect;
  readonly now: () => number;
  random: Random;
  readonly signer: ReturnType<typeof createSigner>;
  readonly fleets: Fleets;
}

export function createWorld(state: State, dialect: Dialect, now: () => number): World {
  return {
    state,
    dialect,
    now,
    random: createRandom(state.settings.randomSeed),
    signer: createSigner(),
    fleets: new Fleets(),
  };
}

/** Writes down everything that has fallen due, before the clock jumps (it may jump back). */
export function settle({ state, fleets }: World, nowMs: number): void {
  for (const deployment of state.deployments.values()) settleDeployment(deployment, nowMs);
  settleEndpoints(state, nowMs);
  fleets.settle(state, nowMs);
  settleTfa(state, nowMs);
}

const MODULUS_BITS = 2048;

/**
 * The service's own key, with which it signs where a request may go. It is made when it is needed first: that takes a tenth
 * of a second, and few need it.
 */
function createSigner() {
  let pair: { readonly privateKey: KeyObject; readonly publicKey: KeyObject } | undefined;
  const keys = () => (pair ??= generateKeyPairSync('rsa', { modulusLength: MODULUS_BITS }));
  return {
    /** base64 of RSA PKCS#1 v1.5 with SHA-256. */
    sign: (text: string) => createSign('sha256').update(text).sign(keys().privateKey, 'base64'),
    verify: (text: string, signature: string) =>
      createVerify('sha256').update(text).verify(keys().publicKey, signature, 'base64'),
    /** PEM, for those who check signatures. */
    publicKey: () => keys().publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}
