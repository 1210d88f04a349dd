import type { Metrics } from '../../src/daemon/metrics.ts';

export async function expositionOf(metrics: Pick<Metrics, 'exposition'>): Promise<string> {
  return (await metrics.exposition()).join('');
}
