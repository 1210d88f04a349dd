import { getDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { expect, test } from 'vitest';
import { AddressPatience } from '../../../../src/client/transport/address-patience.ts';

const SHORT = getDefaultAutoSelectFamilyAttemptTimeout();
const LONG = 2_000;

test('is Node’s own, and every second connection after one that was not made has more', () => {
  const patience = new AddressPatience();
  const seen = Array.from({ length: 4 }, () => {
    const { ms } = patience;
    patience.failed(ms);
    return ms;
  });
  expect(seen).toEqual([SHORT, LONG, SHORT, LONG]);
});

test('however many are not made at once', () => {
  const patience = new AddressPatience();
  for (let open = 0; open < 300; open += 1) patience.failed(SHORT);
  expect(patience.ms).toBe(LONG);
});

test('stays with what a slow network needs, and not where it was waited for in vain', () => {
  const patience = new AddressPatience();
  patience.failed(SHORT);
  patience.connected(LONG, 900);
  expect(patience.ms).toBe(LONG);
  patience.connected(LONG, LONG);
  expect(patience.ms).toBe(SHORT);
});
