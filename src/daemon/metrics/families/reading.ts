/** How families read the status. */
import type { Scrape } from '../scrape.ts';
import type { Labels, Sample, SampledFamily } from '../series.ts';

export type Read = SampledFamily<Scrape>['read'];

/** One sample for each key of a record, the key as one more label. */
export function spread(labels: Labels, name: string, counts: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(counts).map(([key, count]) => [{ ...labels, [name]: key }, count]);
}

/** One sample without labels. */
export function one(value: (status: Scrape) => number | null): Read {
  return (status) => [[{}, value(status)]];
}
