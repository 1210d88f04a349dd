/** A metric that is read, not kept: each scrape asks the status for its samples, so what is gone has no series left. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Status } from '../status/schema.ts';

export const PREFIX = 'pilotlight_';

export type Labels = Readonly<Record<string, string | number>>;
/** Without a value there is no series. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number | null;
}

export interface Family {
  /** Without the prefix. */
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  /** None when absent: then there is at most one sample. */
  readonly labels?: readonly string[];
  readonly read: (status: Status) => readonly Sample[];
}

/** `status` tells the status that the scrape under way shows. */
export function registerFamily(family: Family, registry: Registry, status: () => Status): void {
  const samples = (): KnownSample[] => family.read(status()).filter((sample) => isKnown(sample));
  registry.registerMetric(
    family.type === 'gauge' ? readGauge(family, samples) : readCounter(family, samples),
  );
}

function readGauge(family: Family, samples: () => KnownSample[]): Gauge {
  return new Gauge({
    ...configurationOf(family),
    collect() {
      empty(this, family);
      for (const { labels, value } of samples()) this.set(labels, value);
    },
  });
}

function readCounter(family: Family, samples: () => KnownSample[]): Counter {
  return new Counter({
    ...configurationOf(family),
    collect() {
      empty(this, family);
      for (const { labels, value } of samples()) this.inc(labels, value);
    },
  });
}

function configurationOf({ name, help, labels = [] }: Family) {
  return { name: PREFIX + name, help, labelNames: labels, registers: [] };
}

/** A reset alone leaves a metric without labels at 0. */
function empty(metric: Gauge | Counter, { labels = [] }: Family): void {
  metric.reset();
  if (labels.length === 0) metric.remove();
}

interface KnownSample {
  readonly labels: Labels;
  readonly value: number;
}

function isKnown(sample: Sample): sample is KnownSample {
  return sample.value !== null;
}

/** One sample without labels. */
export function one(value: (status: Status) => number | null): Family['read'] {
  return (status) => [{ labels: {}, value: value(status) }];
}
