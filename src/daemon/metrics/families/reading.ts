/** How families read the status. */
import type { Status } from '../../status.ts';
import type { Family, Labels, Sample } from '../series.ts';

export type Read = Family<Status>['read'];

/** One sample for each key of a record, the key as one more label. */
export function spread(labels: Labels, name: string, counts: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(counts).map(([key, count]) => [{ ...labels, [name]: key }, count]);
}

/** One sample without labels. */
export function one(value: (status: Status) => number | null): Read {
  return (status) => [[{}, value(status)]];
}
