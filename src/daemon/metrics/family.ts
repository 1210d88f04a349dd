/** A metric that is read, not kept: each scrape asks the status for its samples, so what is gone has no series left. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Status } from '../status/schema.ts';

export const PREFIX = 'pilotlight_';

export type Labels = Readonly<Record<string, string | number>>;
/** Without a value there is no series. */
export type Sample = readonly [labels: Labels, value: number | null];

export interface Family {
  /** Without the prefix. */
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  /** None when absent: then there is at most one sample. */
  readonly labels?: readonly string[];
  /** A series for each deployment or worker group: they are not stored, and no two have the same labels. */
  readonly isLarge?: boolean;
  readonly read: (status: Status) => readonly Sample[];
}

/** `status` tells the status that the scrape under way shows. */
export function registerFamily(family: Family, registry: Registry, status: () => Status): void {
  const { isLarge = false, type } = family;
  const samples = (): KnownSample[] => family.read(status()).filter((sample) => isKnown(sample));
  if (isLarge) registry.registerMetric(toldMetric(family, samples));
  else registry.registerMetric(type === 'gauge' ? readGauge(family, samples) : readCounter(family, samples));
}

function readGauge(family: Family, samples: () => KnownSample[]): Gauge {
  return new Gauge({
    ...configurationOf(family),
    collect() {
      empty(this, family);
      for (const [labels, value] of samples()) this.set(labels, value);
    },
  });
}

function readCounter(family: Family, samples: () => KnownSample[]): Counter {
  return new Counter({
    ...configurationOf(family),
    collect() {
      empty(this, family);
      for (const [labels, value] of samples()) this.inc(labels, value);
    },
  });
}

/**
 * Tells the registry the samples as they are read. To set 33,000 of them first, through the hash tables of the metrics,
 * takes more than half of a scrape with 1,000 deployments.
 */
function toldMetric(family: Family, samples: () => KnownSample[]): Gauge | Counter {
  const Metric = family.type === 'gauge' ? Gauge : Counter;
  const metric = new Metric(configurationOf(family));
  const get = metric.get.bind(metric);
  metric.get = async () => {
    const values = samples().map(([labels, value]) => ({ labels, value }));
    return { ...(await get()), values };
  };
  return metric;
}

function configurationOf({ name, help, labels = [] }: Family) {
  return { name: PREFIX + name, help, labelNames: labels, registers: [] };
}

/** A reset alone leaves a metric without labels at 0. */
function empty(metric: Gauge | Counter, { labels = [] }: Family): void {
  metric.reset();
  if (labels.length === 0) metric.remove();
}

type KnownSample = readonly [labels: Labels, value: number];

function isKnown(sample: Sample): sample is KnownSample {
  return sample[1] !== null;
}

/** One sample without labels. */
export function one(value: (status: Status) => number | null): Family['read'] {
  return (status) => [[{}, value(status)]];
}

/** One sample for each key of a record, the key as one more label. */
export function spread(labels: Labels, name: string, counts: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(counts).map(([key, count]) => [{ ...labels, [name]: key }, count]);
}
