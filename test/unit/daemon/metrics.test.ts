import { expect, test } from 'vitest';
import { createMetrics } from '../../../src/daemon/metrics/metrics.ts';
import { EMPTY_SCRAPE } from '../../support/empty-scrape.ts';

test('an exposition stays as it is until it is released, however many others are made', async () => {
  let scrapes = 0;
  const metrics = createMetrics(() => ({ ...EMPTY_SCRAPE, version: `v${(scrapes += 1)}` }), []);
  const versionIn = (bytes: Uint8Array): string | undefined =>
    /version="(v\d)"/.exec(Buffer.from(bytes).toString())?.[1];
  const first = await metrics.exposition();
  const second = await metrics.exposition();
  expect([first, second].map(({ bytes }) => versionIn(bytes))).toEqual(['v1', 'v2']);
  second.release();
  const third = await metrics.exposition();
  expect([first, third].map(({ bytes }) => versionIn(bytes))).toEqual(['v1', 'v3']);
  expect(third.bytes.buffer).toBe(second.bytes.buffer);
});
