/**
 * A metric that is read, not kept: each scrape asks the status for its samples, so what is gone has no series left. It is
 * written here and not by prom-client, which keeps an object for each series and takes five times as long.
 */
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
  readonly read: (status: Status) => readonly Sample[];
}

/** What announces a family in the Prometheus text format. */
export function familyHead({ name, type, help }: Pick<Family, 'name' | 'type' | 'help'>): string {
  return `# HELP ${PREFIX}${name} ${help}\n# TYPE ${PREFIX}${name} ${type}\n`;
}

/** In the Prometheus text format; announced also without series. Of samples with the same labels the last one counts. */
export function familyText(family: Family, status: Status): string {
  const values = new Map<string, number>();
  for (const { labels, value } of family.read(status))
    if (value !== null) values.set(labelsText(labels), value);
  let text = familyHead(family);
  for (const [labels, value] of values) text += `${PREFIX}${family.name}${labels} ${numberText(value)}\n`;
  return text;
}

function labelsText(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(String(value))}"`);
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '"': '\\"' };

function escaped(value: string): string {
  return value.replaceAll(/[\\\n"]/g, (character) => ESCAPES[character] ?? character);
}

function numberText(value: number): string {
  return Math.abs(value) === Infinity ? (value > 0 ? '+Inf' : '-Inf') : String(value);
}

/** One sample without labels. */
export function one(value: (status: Status) => number | null): Family['read'] {
  return (status) => [{ labels: {}, value: value(status) }];
}
