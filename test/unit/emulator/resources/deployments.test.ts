import * as fc from '../../../support/fast-check.ts';
import { expect, test } from 'vitest';
import {
  beat,
  changeDeployment,
  createDeployment,
  settleDeployment,
  viewDeployment,
} from '../../../../src/emulator/resources/deployments.ts';

const TTL = 1_000;

test('the books agree with the gaps between heartbeats, whatever they are', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1_200 }), { minLength: 1, maxLength: 40 }), (gaps) => {
      const deployment = createDeployment({ id: 42, userId: 1, ttlMs: TTL, createdMs: 0, countsFromMs: 0 });
      const firstLate = gaps.findIndex((gap) => gap >= TTL);
      const accepted = firstLate === -1 ? gaps : gaps.slice(0, firstLate);
      let nowMs = 0;
      for (const [index, gap] of gaps.entries()) {
        nowMs += gap;
        expect(beat(deployment, nowMs)).toBe(index < accepted.length);
      }
      const view = viewDeployment(deployment, nowMs);
      expect(view.beats).toBe(accepted.length);
      expect(view.lateBeats).toBe(gaps.length - accepted.length);
      expect(view.expired).toBe(firstLate !== -1);
      expect(view.minMarginMs).toBe(view.expired ? 0 : TTL - Math.max(...accepted));
      if (view.expired) {
        expect(view.expiredAtMs).toBe(accepted.reduce((sum, gap) => sum + gap, 0) + TTL);
      }
    }),
  );
});

test('expiry does not depend on when somebody looks', () => {
  const deployment = createDeployment({ id: 42, userId: 1, ttlMs: TTL, createdMs: 0, countsFromMs: 0 });
  settleDeployment(deployment, 50_000);
  expect(viewDeployment(deployment, 0)).toMatchObject({ expired: true, expiredAtMs: TTL });
});

test('without a TTL it never expires; before its first heartbeat it need not either', () => {
  expect(
    viewDeployment(createDeployment({ id: 1, userId: 1, ttlMs: null, createdMs: 0, countsFromMs: 0 }), 1e15)
      .expired,
  ).toBe(false);
  const waiting = createDeployment({ id: 1, userId: 1, ttlMs: TTL, createdMs: 0, countsFromMs: null });
  expect(viewDeployment(waiting, 1e15).expired).toBe(false);
  expect(beat(waiting, 1e15)).toBe(true);
  expect(viewDeployment(waiting, 1e15 + TTL).expired).toBe(true);
});

test('a TTL that is shortened counts from the last heartbeat, and expires no earlier than it is shortened', () => {
  const deployment = createDeployment({ id: 42, userId: 1, ttlMs: TTL, createdMs: 0, countsFromMs: 0 });
  beat(deployment, 500);
  changeDeployment(deployment, { ttlMs: 400 }, 600);
  expect(viewDeployment(deployment, 600)).toMatchObject({ expired: false, expiresAtMs: 900 });
  changeDeployment(deployment, { ttlMs: 100 }, 700);
  expect(viewDeployment(deployment, 5_000)).toMatchObject({ expired: true, expiredAtMs: 700 });
  changeDeployment(deployment, { ttlMs: null }, 800);
  expect(viewDeployment(deployment, 5_000)).toMatchObject({ expired: true, expiredAtMs: 700 });
});
