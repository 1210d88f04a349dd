/** The TTL of deployments: what a heartbeat finds, and how close each came to its end. */
import { expect, test } from 'vitest';
import { publicDialect } from '../../../../src/emulator/dialect.ts';
import type { Seed, SettingsInput } from '../../../../src/emulator/index.ts';
import * as fc from '../../../support/fast-check.ts';
import { createLab, NOON } from '../../../support/two-factor.ts';

const TTL = 1_000;
const SEED: Seed = {
  deployments: [
    { id: 42, ttl: TTL / 1000 },
    { id: 43, ttl: null },
  ],
};

function labOf(settings: SettingsInput = {}) {
  const lab = createLab(settings, publicDialect, SEED);
  const beat = () => lab.send('POST', '/api/v0/deployment/42/heartbeat', '{}', 'emulator-key').status === 200;
  return { lab, beat, deployments: lab.deployments };
}

test('the books agree with the gaps between heartbeats, whatever they are', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1_200 }), { minLength: 1, maxLength: 40 }), (gaps) => {
      const { lab, beat, deployments } = labOf();
      const firstLate = gaps.findIndex((gap) => gap >= TTL);
      const accepted = firstLate === -1 ? gaps : gaps.slice(0, firstLate);
      for (const [index, gap] of gaps.entries()) {
        lab.advance(gap);
        expect(beat()).toBe(index < accepted.length);
      }
      const view = deployments.get(42);
      expect(view.beats).toBe(accepted.length);
      expect(view.lateBeats).toBe(gaps.length - accepted.length);
      expect(view.expired).toBe(firstLate !== -1);
      const margin = view.expired ? 0 : TTL - Math.max(...accepted);
      expect(view).toMatchObject({ minMarginMs: margin, minMarginRatio: margin / TTL });
      expect(view.lapses).toBe(view.expired ? 1 : 0);
      if (view.expired) {
        expect(view.expiredAtMs).toBe(NOON + accepted.reduce((sum, gap) => sum + gap, 0) + TTL);
      }
    }),
  );
});

test('expiry does not depend on when somebody looks', () => {
  const { lab, deployments } = labOf();
  lab.advance(50_000);
  lab.advance(-50_000);
  expect(deployments.get(42)).toMatchObject({ expired: true, expiredAtMs: NOON + TTL });
});

test('without a TTL it never expires; before its first heartbeat it need not either', () => {
  const { lab, beat, deployments } = labOf({ deploymentTtlStarts: 'first heartbeat' });
  const expired = () => deployments.list().flatMap((one) => (one.expired ? [one.id] : []));
  lab.advance(1e12);
  expect(expired()).toEqual([]);
  expect(beat()).toBe(true);
  lab.advance(TTL);
  expect(expired()).toEqual([42]);
});

test('a TTL that is shortened counts from the last heartbeat, and expires no earlier than it is shortened', () => {
  const { lab, beat, deployments } = labOf();
  lab.advance(500);
  beat();
  lab.advance(100);
  deployments.change(42, { ttl: 0.4 });
  expect(deployments.get(42)).toMatchObject({ expired: false, expiresAtMs: NOON + 900 });
  lab.advance(100);
  deployments.change(42, { ttl: 0.1 });
  expect(deployments.get(42)).toMatchObject({ expired: true, expiredAtMs: NOON + 700 });
  lab.advance(100);
  deployments.change(42, { ttl: null });
  expect(deployments.get(42)).toMatchObject({ expired: true, expiredAtMs: NOON + 700 });
});
