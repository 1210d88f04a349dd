/** The families of the status: each fact of it that names a metric, found by walking through its schema. */
import { Counter, Gauge, type Registry } from 'prom-client';
import * as z from 'zod';
import { LABELS, METRICS, type Metric, type Shown } from '../status/fact.ts';
import { statusSchema, type Status } from '../status/schema.ts';

export const PREFIX = 'pilotlight_';

type Labels = Record<string, string | number>;
type Fields = Readonly<Record<string, string | number | null>>;
type Series = readonly [labels: Labels, value: number];

export interface Family extends Pick<Metric, 'name' | 'help'> {
  readonly labels: readonly string[];
  /** None for what is not known. */
  readonly read: (status: Status) => Iterable<Series>;
}

/** A fact in a status: what has it, and the labels of that. */
interface Found {
  readonly fact: unknown;
  readonly thing: unknown;
  readonly labels: Labels;
}

/** Where a type stands in the status. */
interface Place {
  readonly labels: readonly string[];
  readonly find: (status: Status) => readonly Found[];
}

const BUILD_LABELS = ['version', 'revision', 'node_version'] as const;

export const FAMILIES: readonly Family[] = [
  {
    name: 'build_info',
    help: 'Version, revision and Node version of this build; always 1.',
    labels: BUILD_LABELS,
    read: (status) => [[labelsOf(status, BUILD_LABELS), 1]],
  },
  ...familiesIn(statusSchema, {
    labels: [],
    find: (status) => [{ fact: status, thing: status, labels: {} }],
  }),
];

function familiesIn(type: z.ZodType, place: Place): Family[] {
  if (type instanceof z.ZodNullable && !METRICS.has(type))
    return familiesIn(type.unwrap() as z.ZodType, place);
  const { labels: own = [] } = LABELS.get(type) ?? {};
  const here = own.length === 0 ? place : labelled(place, own);
  const shown = METRICS.get(type);
  const families = shown ? [familyOf(shown, here)] : [];
  if (type instanceof z.ZodArray)
    return [
      ...families,
      ...familiesIn(
        type.element as z.ZodType,
        within(here, (list) => list as unknown[]),
      ),
    ];
  if (!(type instanceof z.ZodObject)) return families;
  const fields = Object.entries(type.shape);
  return families.concat(
    ...fields.map(([name, field]) =>
      familiesIn(
        field,
        within(here, (object) => [(object as Record<string, unknown>)[name]]),
      ),
    ),
  );
}

/** One step into what is there: null has nothing in it. */
function within(place: Place, step: (fact: unknown) => readonly unknown[]): Place {
  const into = ({ fact: thing, labels }: Found): Found[] =>
    thing === null ? [] : step(thing).map((fact) => ({ fact, thing, labels }));
  return { ...place, find: (status) => place.find(status).flatMap(into) };
}

function labelled(place: Place, own: readonly string[]): Place {
  return {
    labels: [...place.labels, ...own],
    find: (status) =>
      place.find(status).map(({ fact, thing, labels }) => ({
        fact,
        thing,
        labels: Object.assign(labelsOf(fact, own), labels),
      })),
  };
}

/** One that is null is left out: Prometheus takes that for an empty label. */
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
        seriesOf(value(fact, thing, status), own, label ?? ''),
      ),
  };
}

function seriesOf(shown: Shown, labels: Labels, label: string): Series[] {
  if (shown === null) return [];
  if (typeof shown !== 'object') return [[labels, Number(shown)]];
  return Object.entries(shown).flatMap(([key, value]) =>
    value === null ? [] : [[{ ...labels, [label]: key }, value]],
  );
}

/** Registers a family that is read at each scrape, of the status that `shown` gives. What is gone has no series left. */
export function registerFamily(
  registry: Registry,
  family: Family,
  shown: () => Status,
): readonly [name: string, kept: Counter | Gauge] {
  const { help, labels, read } = family;
  const name = `${PREFIX}${family.name}`;
  const config = { name, help, labelNames: labels, registers: [registry] };
  /** Without labels a metric begins at 0, which would stand for what is not known. */
  const begin = (kept: Gauge | Counter): Iterable<Series> => {
    kept.reset();
    kept.remove({});
    return read(shown());
  };
  const kept = name.endsWith('_total')
    ? new Counter({
        ...config,
        collect() {
          for (const [own, value] of begin(this)) this.inc(own, value);
        },
      })
    : new Gauge({
        ...config,
        collect() {
          for (const [own, value] of begin(this)) this.set(own, value);
        },
      });
  return [name, kept];
}
