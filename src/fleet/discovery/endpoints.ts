/**
 * The endpoints of the service, their labels, and which of them are watched. Their parameters, the findings of the
 * rules, and the drift from PILOTLIGHT_ENDPOINT_GROUPS.
 */
import { ENDPOINT_GROUP_PARAMETERS } from '../../contract/operations/serverless/endpoint-groups.ts';
import { isWanted, LISTS_TO_BE_GONE, type WantedRow } from '../../contract/wanted.ts';
import {
  checkEndpointGroup,
  DEFAULT_FILLED_IN,
  parametersOf,
  type CheckedGroup,
} from '../../scaling/rules/check.ts';
import type { Finding, WorkerFacts } from '../../scaling/rules/rules.ts';

/** A row of the list: an endpoint with its parameters. */
export interface ListedEndpoint {
  readonly id: number;
  readonly endpoint_name?: string | null | undefined;
  readonly endpoint_state?: string | null | undefined;
  readonly [parameter: string]: unknown;
}

export interface EndpointsAnswer {
  readonly endpoints: readonly ListedEndpoint[];
  /** Rows that could not be read. */
  readonly unreadable: number;
}

export interface KnownEndpoint {
  readonly id: number;
  readonly name: string | undefined;
  /** Its name; `name#2` for the second of that name; `#ID` without a name. */
  readonly label: string;
  /** From the last list that had it; undefined if an earlier process knew it. */
  readonly row: ListedEndpoint | undefined;
  /** Complete lists in a row that did not have it. */
  readonly missed: number;
}

/** In a stable order: the first of a name has it, the others are numbered. */
export type KnownEndpoints = readonly KnownEndpoint[];

type Unlabelled = Omit<KnownEndpoint, 'label'>;

/**
 * A new endpoint with the name of a missing one takes its place and label, so that metrics and history go
 * on. An unreadable row may be any endpoint, so then none counts as missing.
 */
export function afterList(known: KnownEndpoints, { endpoints, unreadable }: EndpointsAnswer): KnownEndpoints {
  const rows = new Map(endpoints.map((row) => [row.id, row]));
  const missing = unreadable > 0 ? 0 : 1;
  const next: Unlabelled[] = [];
  for (const one of known) {
    const row = rows.get(one.id);
    const name = nameOf(row) ?? one.name;
    if (row === undefined) next.push({ ...one, missed: one.missed + missing });
    else if (name === one.name) {
      next.push({ id: one.id, name, row, missed: 0 });
      rows.delete(one.id);
    }
  }
  for (const row of [...rows.values()].sort((a, b) => a.id - b.id)) {
    const newcomer = { id: row.id, name: nameOf(row), row, missed: 0 };
    const place = next.findIndex(
      ({ name, missed }) => missed > 0 && name === newcomer.name && name !== undefined,
    );
    if (place === -1) next.push(newcomer);
    else next[place] = newcomer;
  }
  return labelled(next.filter(({ missed }) => missed < LISTS_TO_BE_GONE));
}

type WatchedEndpoint = Pick<KnownEndpoint, 'id' | 'label'>;

/** In the order of the lists. An endpoint wanted by its id needs no list. */
export function watchedEndpoints(
  wanted: readonly WantedRow[],
  known: KnownEndpoints,
): readonly WatchedEndpoint[] {
  const found = known.filter(({ id, name }) => isWanted(wanted, id, name));
  const taken = new Set(known.map(({ label }) => label));
  const unlisted = wanted.flatMap((one) =>
    one.by === 'id' && !known.some(({ id }) => id === one.id)
      ? [{ id: one.id, label: freeLabel({ id: one.id, name: undefined }, taken) }]
      : [],
  );
  return [...found.map(({ id, label }) => ({ id, label })), ...unlisted];
}

function labelled(endpoints: readonly Unlabelled[]): KnownEndpoints {
  const taken = new Set<string>();
  return endpoints.map((one) => {
    const label = freeLabel(one, taken);
    taken.add(label);
    return { ...one, label };
  });
}

/** An endpoint may be named `#7`. */
function freeLabel(
  { id, name = `#${id}` }: Pick<Unlabelled, 'id' | 'name'>,
  taken: ReadonlySet<string>,
): string {
  let label = name;
  for (let place = 2; taken.has(label); place += 1) label = `${name}#${place}`;
  return label;
}

function nameOf(row: ListedEndpoint | undefined): string | undefined {
  return row?.endpoint_name?.trim() || undefined;
}

export interface Drift {
  readonly parameter: string;
  /** null: the service has none. */
  readonly actual: number | string | null;
  readonly wanted: number | string;
}

/** Numeric ones. Defaults of services differ, so what a row lacks is not known. */
export function numericParameters(row: ListedEndpoint): Readonly<Record<string, number>> {
  const own = Object.entries(parametersOf(row)).filter(
    (entry): entry is [string, number] => entry[0] !== 'endpoint_name' && Number.isFinite(entry[1]),
  );
  return Object.fromEntries(own);
}

/**
 * A default that was filled in is not compared, because services have other defaults; nor is a parameter that
 * is missing from the list.
 */
export function driftOf(
  row: ListedEndpoint,
  { parameters: wanted, findings }: CheckedGroup,
): readonly Drift[] {
  const filledIn = new Set(
    findings.filter(({ rule }) => rule === DEFAULT_FILLED_IN).map(({ parameter }) => parameter),
  );
  const own = parametersOf(row);
  return ENDPOINT_GROUP_PARAMETERS.flatMap((parameter): Drift[] => {
    const should = wanted?.[parameter];
    const isCompared = typeof should === 'number' && row[parameter] !== undefined && !filledIn.has(parameter);
    const has = own[parameter];
    const actual = typeof has === 'number' || typeof has === 'string' ? has : null;
    return isCompared && actual !== should ? [{ parameter, actual, wanted: should }] : [];
  });
}

/** Without the notes on defaults: the user may have chosen these values. */
export function findingsOf(row: ListedEndpoint, facts: WorkerFacts): readonly Finding[] {
  const group = Object.entries(parametersOf(row)).filter(([, value]) => value !== '');
  const { findings } = checkEndpointGroup(Object.fromEntries(group), facts);
  return findings.filter(({ rule }) => rule !== DEFAULT_FILLED_IN);
}
