/** The metric families of the status, found by walking through its schema. */
import { Counter, Gauge, type Registry } from 'prom-client';
import * as z from 'zod';
import { LABELS, METRICS, type Metric, type Shown } from '../status/fact.ts';
import { statusSchema, type Status } from '../status/schema.ts';

export const PREFIX = 'pilotlight_';

type Labels = Record<string, string | number>;
type Fields = Readonly<Record<string, string | number | null>>;

/** prom-client formats a labels object once, so all families of a thing share it. */
interface Sample {
  readonly value: number;
  readonly labels: Labels;
  readonly sharedLabels: Labels;
}

export interface Family extends Pick<Metric, 'name' | 'help'> {
  readonly labels: readonly string[];
  /** Empty if the value is not known. */
  readonly read: (status: Status) => readonly Sample[];
}

interface Found {
  readonly fact: unknown;
  readonly thing: unknown;
  readonly labels: Labels;
}

interface Place {
  readonly labels: readonly string[];
  readonly find: (status: Status) => readonly Found[];
}

const BUILD_LABELS = ['version', 'revision', 'node_version'] as const;

export const FAMILIES: readonly Family[] = merged([
  {
    name: 'build_info',
    help: 'Version, revision and Node version of this build; always 1.',
    labels: BUILD_LABELS,
    read: (status) => [{ value: 1, labels: labelsOf(status, BUILD_LABELS), sharedLabels: {} }],
  },
  ...familiesIn(statusSchema, {
    labels: [],
    find: (status) => [{ fact: status, thing: status, labels: {} }],
  }),
]);

/** Several kinds of things may have the same fact: one family has all their series. */
function merged(families: readonly Family[]): Family[] {
  const byName = new Map<string, Family>();
  for (const family of families) {
    const { labels = [], read } = byName.get(family.name) ?? {};
    byName.set(family.name, {
      ...family,
      labels: [...new Set([...labels, ...family.labels])],
      read: (status) => [...(read?.(status) ?? []), ...family.read(status)],
    });
  }
  return [...byName.values()];
}

function familiesIn(type: z.ZodType, place: Place): Family[] {
  if (type instanceof z.ZodNullable && !METRICS.has(type))
    return familiesIn(type.unwrap() as z.ZodType, place);
  const { labels: own = [] } = LABELS.get(type) ?? {};
  const here = own.length === 0 ? place : labelled(place, own);
  const shown = METRICS.get(type);
  const families = shown ? [familyOf(shown, here)] : [];
  const into = (part: z.ZodType, step: (fact: unknown) => readonly unknown[]) =>
    familiesIn(part, within(here, step));
  if (type instanceof z.ZodArray)
    return [...families, ...into(type.element as z.ZodType, (list) => list as unknown[])];
  if (!(type instanceof z.ZodObject)) return families;
  const fields = Object.entries(type.shape).map(([name, field]) =>
    into(field, (object) => [(object as Record<string, unknown>)[name]]),
  );
  return families.concat(...fields);
}

/** Null has no parts. */
function within(place: Place, step: (fact: unknown) => readonly unknown[]): Place {
  const into = ({ fact: thing, labels }: Found): Found[] =>
    thing === null ? [] : step(thing).map((fact) => ({ fact, thing, labels }));
  return { ...place, find: (status) => place.find(status).flatMap(into) };
}

/** Finds the things once for all families. Of two with the same labels the later one counts. */
function labelled(place: Place, own: readonly string[]): Place {
  const known = new WeakMap<Status, readonly Found[]>();
  const find = (status: Status): readonly Found[] => {
    const found = new Map<string, Found>();
    for (const { fact, thing, labels } of place.find(status)) {
      const all = Object.assign(labelsOf(fact, own), labels);
      found.set(JSON.stringify(all), { fact, thing, labels: all });
    }
    return [...found.values()];
  };
  return {
    labels: [...place.labels, ...own],
    find(status) {
      const found = known.get(status) ?? find(status);
      known.set(status, found);
      return found;
    },
  };
}

/** Prometheus reads an absent label as an empty one. */
function labelsOf(thing: unknown, names: readonly string[]): Labels {
  const labels: Labels = {};
  for (const name of names) {
    const value = (thing as Fields)[name] ?? null;
    if (value !== null) labels[name] = value;
  }
  return labels;
}

function familyOf({ name, help, label, value }: Metric, { labels, find }: Place): Family {
  return {
    name,
    help,
    labels: label === undefined ? labels : [...labels, label],
    read: (status) =>
      find(status).flatMap(({ fact, thing, labels: own }) =>
        samplesOf(value(fact, thing, status), own, label ?? ''),
      ),
  };
}

function samplesOf(shown: Shown, sharedLabels: Labels, label: string): Sample[] {
  if (shown === null) return [];
  if (typeof shown !== 'object') return [{ value: Number(shown), labels: {}, sharedLabels }];
  return Object.entries(shown).flatMap(([key, value]) =>
    value === null ? [] : [{ value, labels: { [label]: key }, sharedLabels }],
  );
}

/** Read at each scrape: prom-client keeps no sample, so nothing stale is shown. */
export function registerFamily(registry: Registry, family: Family, shown: () => Status): void {
  const { help, labels, read } = family;
  const name = `${PREFIX}${family.name}`;
  const config = { name, help, labelNames: labels, registers: [registry] };
  const kept = name.endsWith('_total') ? new Counter(config) : new Gauge(config);
  const empty = kept.get.bind(kept);
  kept.get = async () => Object.assign(await empty(), { values: read(shown()) });
}
