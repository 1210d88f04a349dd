import { expect, test } from 'vitest';
import { recordedOf, WINDOW_MS } from '../../../../src/daemon/advice/history.ts';
import type { HistoryQuery } from '../../../../src/fleet/history/row.ts';
import { unpackedRows } from '../../../../src/fleet/advice/packed-rows.ts';
import { resolvedParameters } from '../../../../src/fleet/advice/parameters.ts';
import { endpointView, minuteRow } from '../../../support/recorded-fleet.ts';

const NOW = Date.UTC(2026, 5, 8);
const HOUR = 3_600_000;
const endpoint = endpointView({
  parameters: { target_util: 0.5, max_workers: 4, target_queue_time: 7 },
  measured: { performances: [5], startSeconds: { new: [30], cold: [4] } },
});
const parameters = resolvedParameters(endpoint.parameters)!;

test('a week is read in pages of half an hour, and a row on their border once', async () => {
  const asked: HistoryQuery[] = [];
  const recorded = await recordedOf(
    {
      async history(query) {
        asked.push(query);
        // Where a row has the begin of the page it is in both.
        return [minuteRow(query.fromMs), minuteRow(query.toMs)];
      },
    },
    { endpoint, parameters, parametersSinceMs: 7, nowMs: NOW },
    new AbortController().signal,
  );
  expect(asked).toEqual(
    Array.from({ length: 336 }, (_, page) => ({
      endpoint: 'chat',
      fromMs: NOW - WINDOW_MS + (page * HOUR) / 2,
      toMs: NOW - WINDOW_MS + ((page + 1) * HOUR) / 2,
      maxRows: 5_000,
    })),
  );
  expect(recorded).toMatchObject({ endpoint: 'chat', performances: [5], parameters, parametersSinceMs: 7 });
  // The begin of each page, and the end of the last.
  expect([...unpackedRows(recorded.pages)]).toHaveLength(337);
});

test('all else has its turn between pages, and may end the reading', async () => {
  const ending = new AbortController();
  let pages = 0;
  const reading = recordedOf(
    {
      history() {
        pages += 1;
        return Promise.resolve([]);
      },
    },
    { endpoint, parameters, parametersSinceMs: undefined, nowMs: NOW },
    ending.signal,
  );
  setImmediate(() => ending.abort(new Error('stopping')));
  await expect(reading).rejects.toThrow('stopping');
  expect(pages).toBeLessThan(3);
});
