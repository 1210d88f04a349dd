/**
 * Metrics that are read, not kept: at each scrape a family asks for its samples, so that what is gone has no
 * series any more and nothing is counted twice. They are written straight into the exposition format
 * (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format): to pass 30,000 of them
 * through a registry's hash tables took 200 ms of each scrape with 1,000 deployments.
 */
import type { Exposition } from './exposition.ts';

export const PREFIX = 'pilotlight_';

export type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number | null | undefined];

interface FamilyHead {
  /** Without the prefix. */
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
}

/** A family of few series. */
export interface SampledFamily<Source> extends FamilyHead {
  /** Samples without a value are left out; of two with the same labels the later one counts. */
  readonly read: (source: Source) => Iterable<Sample>;
}

/** A family of so many series that an object for each of them would be the larger part of a scrape's work. */
export interface WrittenFamily<Source> extends FamilyHead {
  /** Adds the lines of all series, each once. `name` has the prefix. */
  readonly write: (source: Source, name: string, text: Exposition) => void;
}

export type Family<Source> = SampledFamily<Source> | WrittenFamily<Source>;

/** Writes the families, each with its HELP and TYPE even when it has no samples. */
export function expose<Source>(families: readonly Family<Source>[], source: Source, text: Exposition): void {
  for (const family of families) {
    const name = PREFIX + family.name;
    text.add(`# HELP ${name} ${family.help.replace(/[\\\n]/g, escape)}\n# TYPE ${name} ${family.type}\n`);
    if ('write' in family) family.write(source, name, text);
    else writeSamples(family.read(source), name, text);
  }
}

function writeSamples(samples: Iterable<Sample>, name: string, text: Exposition): void {
  const series = new Map<string, number>();
  for (const [labels, value] of samples)
    if (value !== null && value !== undefined) series.set(labelText(labels), value);
  for (const [labels, value] of series) text.add(`${name}${labels} ${numberText(value)}\n`);
}

function labelText(labels: Labels): string {
  let text = '';
  for (const name in labels) {
    const value = labels[name] ?? '';
    text += `${text === '' ? '{' : ','}${name}="${SPECIAL.test(value) ? value.replace(/[\\\n"]/g, escape) : value}"`;
  }
  return text === '' ? '' : `${text}}`;
}

const SPECIAL = /[\\\n"]/;

function escape(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}

export function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
