/** Which deployments are to be kept alive, as a user writes it: by id, or by the name that outlives an id. */

export type Wanted = WantedById | WantedByName;

interface Common {
  /** The TTL that the user gives, ms; undefined where none is given. */
  readonly ttlMs: number | undefined;
}

export interface WantedById extends Common {
  readonly by: 'id';
  readonly id: number;
}

/** Every deployment of a name, or the one of a name and a tag. */
export interface WantedByName extends Common {
  readonly by: 'name';
  readonly name: string;
  /** undefined: any. */
  readonly tag: string | undefined;
}

/** As DEPLOYMENTS has it, without the TTL: `42`, `name:square`, `name:square/blue`. */
export function labelOf(wanted: Wanted): string {
  if (wanted.by === 'id') return String(wanted.id);
  return wanted.tag === undefined ? `name:${wanted.name}` : `name:${wanted.name}/${wanted.tag}`;
}
