/**
 * `pilotlight advise --journal`: the story of each change by advice, as a running daemon tells it, for a terminal. Names and
 * the words of the service are others': none of them begins a line, which would look like a change. Pure.
 */
import type { EndpointStatus, FleetStatus, Status } from '../../daemon/status/schema.ts';
import { chosenEndpoints } from '../fleet/chosen.ts';
import { noEndpoints } from '../fleet/words.ts';
import { legibleLine } from '../text/legible.ts';

export type Journalled = Pick<EndpointStatus, 'endpoint_group' | 'autotune'>;

/** Those that are watched, and those that are not any more and have a change under way. @throws As chosenEndpoints. */
export function journalled(
  status: Pick<Status, 'fleet' | 'replica'>,
  wanted: string | undefined,
): readonly Journalled[] {
  const { unwatched } = status.fleet.autotune;
  const left = unwatched
    .filter(({ endpoint_group: name }) => wanted === undefined || name === wanted)
    .map(({ endpoint_group, ...autotune }) => ({ endpoint_group, autotune }));
  return wanted !== undefined && left.length > 0 ? left : [...chosenEndpoints(status, wanted), ...left];
}

/** One paragraph a change, the last first. Undefined: none of them is steered. */
export function journalText(
  endpoints: readonly Journalled[],
  unchanged: 'yet' | 'since' = 'yet',
): string | undefined {
  const told = endpoints.flatMap(({ endpoint_group: name, autotune }) => {
    if (autotune === undefined) return [];
    const { holds, changes } = autotune;
    const head = `${legibleLine(name)}: ${changes.length === 0 ? `nothing was changed ${unchanged}` : ''}${now(holds === null ? null : legibleLine(holds), changes.length)}`;
    const stories = changes.map(({ at, what, why, expected, came }) =>
      [
        `${minuteOf(at)}  ${legibleLine(what)}`,
        `  why       ${legibleLine(why)}`,
        `  expected  ${legibleLine(expected)}`,
        `  came      ${legibleLine(came)}`,
      ].join('\n'),
    );
    return [[head, ...stories].join('\n')];
  });
  return told.length === 0 ? undefined : told.join('\n\n');
}

/** What the journal cannot tell, since it was in a file that could not be read; undefined where there is none such. */
export function lostJournal({ history_aside: aside }: FleetStatus): string | undefined {
  if (aside === null) return undefined;
  return (
    `the journal begins at ${minuteOf(aside.at)}: the one before it could not be read, and its file was set aside ` +
    `(${legibleLine(aside.file)}); changes may have been in it, and a duty to put old values back: compare the parameters of the ` +
    'endpoints with what they should be, and set by hand what differs'
  );
}

function minuteOf(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Why none of them is. */
export function notSteered(status: Pick<Status, 'fleet' | 'replica' | 'config_problems'>): string {
  return legibleLine(unsteeredWords(status));
}

function unsteeredWords(status: Parameters<typeof notSteered>[0]): string {
  const { fleet, config_problems: problems } = status;
  const nothing = 'nothing is changed by advice';
  const broken = problems.find(({ variable }) => variable.startsWith('PILOTLIGHT_AUTOTUNE'));
  if (broken) return `${nothing}: ${broken.problem}`;
  const { apply, bounds } = fleet.autotune;
  if (!apply) return `${nothing}: PILOTLIGHT_AUTOTUNE is off`;
  if (bounds.length === 0) return `${nothing}: PILOTLIGHT_AUTOTUNE_BOUNDS names no endpoint`;
  if (fleet.endpoints.length === 0) return `${nothing}: ${noEndpoints(status)}`;
  const watched = fleet.endpoints.map(({ endpoint_group: name }) => name).join(', ');
  return `${nothing}: PILOTLIGHT_AUTOTUNE_BOUNDS names ${bounds.join(', ')}; endpoints watched: ${watched}`;
}

function now(holds: string | null, changes: number): string {
  if (holds === null) return changes === 0 ? '' : `${changes} change${changes === 1 ? '' : 's'}`;
  return changes === 0 ? `; ${holds}` : `now: ${holds}`;
}
