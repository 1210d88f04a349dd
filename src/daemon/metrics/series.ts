/**
 * Metrics that are read, not kept: at each scrape a family asks for its samples, so that what is gone has no
 * series any more and nothing is counted twice.
 */
import { Counter, Gauge, type Registry } from 'prom-client';

export const PREFIX = 'pilotlight_';

export type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number | null | undefined];

export interface Family<Source> {
  /** Without the prefix. */
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly labels: readonly string[];
  /** Samples without a value are left out. */
  readonly read: (source: Source) => Iterable<Sample>;
}

/** Registers families whose samples come from one snapshot, taken once for each scrape. No snapshot, no samples. */
export function registerFamilies<Source>(
  registry: Registry,
  families: readonly Family<Source>[],
  snapshot: () => Source | undefined,
): void {
  function samples(family: Family<Source>): Iterable<Sample> {
    const source = snapshot();
    return source === undefined ? [] : family.read(source);
  }
  for (const family of families) {
    const options = {
      name: PREFIX + family.name,
      help: family.help,
      labelNames: [...family.labels],
      registers: [registry],
    };
    if (family.type === 'gauge') {
      const gauge = new Gauge({
        ...options,
        collect() {
          gauge.reset();
          for (const [labels, value] of samples(family)) if (isValue(value)) gauge.set({ ...labels }, value);
        },
      });
    } else {
      const counter = new Counter({
        ...options,
        collect() {
          counter.reset();
          for (const [labels, value] of samples(family))
            if (isValue(value)) counter.inc({ ...labels }, value);
        },
      });
    }
  }
}

function isValue(value: number | null | undefined): value is number {
  return value !== null && value !== undefined;
}
