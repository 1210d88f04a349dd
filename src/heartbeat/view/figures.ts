/**
 * The figures of many deployments as the rows of one array, which is what the metrics read at each scrape. A
 * thousand rows cross from the thread of the heartbeats as one block of memory; as objects, each of their 25,000
 * fields would be copied on both sides.
 */
import { HEARTBEAT_STATES } from '../engine/state.ts';
import { FAILURE_LABELS } from '../engine/outcome.ts';
import type { DeploymentView } from './view.ts';

/** Rows of ROW_LENGTH numbers, one deployment each. NaN: unknown, or will not come. */
export type DeploymentFigures = Float64Array<ArrayBuffer>;

/** Named as in the view, and in its units. */
const NUMBERS = [
  'deploymentId',
  'ttlMs',
  'intervalMs',
  'lastSuccessAt',
  'nextBeatAt',
  'expiresAt',
  'minMarginRatio',
  'lapses',
  'attempts',
] as const satisfies readonly (keyof DeploymentView)[];

export type FigureName = (typeof NUMBERS)[number];

/** Where in a row the state is, as its place in HEARTBEAT_STATES. */
export const STATE_COLUMN = NUMBERS.length;
/** Where the failures begin, in the order of FAILURE_LABELS. */
export const FAILURES_COLUMN = STATE_COLUMN + 1;
export const ROW_LENGTH = FAILURES_COLUMN + FAILURE_LABELS.length;

export function columnOf(name: FigureName): number {
  return NUMBERS.indexOf(name);
}

export function figuresOf(views: readonly DeploymentView[]): DeploymentFigures {
  const figures = new Float64Array(views.length * ROW_LENGTH);
  let at = 0;
  for (const view of views) {
    for (const name of NUMBERS) figures[at++] = view[name] ?? Number.NaN;
    figures[at++] = HEARTBEAT_STATES.indexOf(view.state);
    for (const label of FAILURE_LABELS) figures[at++] = view.failures[label];
  }
  return figures;
}

/** The rows of several arrays, the later ones last. */
export function joinFigures(parts: readonly DeploymentFigures[]): DeploymentFigures {
  const joined = new Float64Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** One row for each of `wanted`, in their order: the one that `figures` has, or that of what `otherwise` says. */
export function selectFigures<T extends { readonly id: number }>(
  figures: DeploymentFigures,
  wanted: readonly T[],
  otherwise: (one: T) => DeploymentView,
): DeploymentFigures {
  const rows = new Map<number, number>();
  for (let row = 0; row < figures.length; row += ROW_LENGTH) rows.set(figures[row] ?? Number.NaN, row);
  const selected = new Float64Array(wanted.length * ROW_LENGTH);
  for (const [place, one] of wanted.entries()) {
    const row = rows.get(one.id);
    const found = row === undefined ? figuresOf([otherwise(one)]) : figures.subarray(row, row + ROW_LENGTH);
    selected.set(found, place * ROW_LENGTH);
  }
  return selected;
}
