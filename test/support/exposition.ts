import type { Metrics } from '../../src/daemon/metrics/metrics.ts';

/** What a scrape gets. */
export async function expositionOf(metrics: Pick<Metrics, 'exposition'>): Promise<string> {
  return (await metrics.exposition()).join('');
}
