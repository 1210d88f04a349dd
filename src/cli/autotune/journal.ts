/** `pilotlight advise --journal`: the story of each change by advice, as a running daemon tells it, for a terminal. Pure. */
import type { EndpointStatus } from '../../daemon/status/schema.ts';

/** One paragraph a change, the last first. Undefined: none of them is steered. */
export function journalText(endpoints: readonly EndpointStatus[]): string | undefined {
  const told = endpoints.flatMap(({ endpoint_group: name, autotune }) => {
    if (autotune === undefined) return [];
    const { holds, changes } = autotune;
    const head = `${name}: ${changes.length === 0 ? 'nothing was changed yet' : ''}${now(holds, changes.length)}`;
    const stories = changes.map(({ at, what, why, expected, came }) =>
      [
        `${new Date(at * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC  ${what}`,
        `  why       ${why}`,
        `  expected  ${expected}`,
        `  came      ${came}`,
      ].join('\n'),
    );
    return [[head, ...stories].join('\n')];
  });
  return told.length === 0 ? undefined : told.join('\n\n');
}

function now(holds: string | null, changes: number): string {
  if (holds === null) return changes === 0 ? '' : `${changes} changes`;
  return changes === 0 ? `; ${holds}` : `now: ${holds}`;
}
