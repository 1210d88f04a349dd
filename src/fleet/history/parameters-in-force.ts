/** The parameters of an endpoint and since when they are these: what ran before ran by others. Pure. */

export interface ParametersInForce {
  /** Those that have a number, defaults filled in. */
  readonly parameters: Readonly<Record<string, number>>;
  /** Of the first look at which they were these, Unix ms; undefined: nobody has seen others. */
  readonly sinceMs: number | undefined;
}

/** @param parameters As of that moment; undefined where they were not known then, which is no change */
export function inForceAfter(
  before: ParametersInForce | undefined,
  parameters: ParametersInForce['parameters'] | undefined,
  atMs: number,
): ParametersInForce | undefined {
  if (!parameters) return before;
  if (!before) return { parameters, sinceMs: undefined };
  if (!isSame(before.parameters, parameters)) return { parameters, sinceMs: atMs };
  // A clock that was set back since.
  const isAhead = before.sinceMs !== undefined && before.sinceMs > atMs;
  return isAhead ? { parameters, sinceMs: atMs } : before;
}

/**
 * What was seen here, after what was stored before.
 * @param seenMs Of the first look here: what changed between the two is new since then
 */
export function inForceOnward(
  stored: ParametersInForce | undefined,
  own: ParametersInForce | undefined,
  seenMs: number,
): ParametersInForce | undefined {
  return own?.sinceMs === undefined ? inForceAfter(stored, own?.parameters, seenMs) : own;
}

function isSame(one: ParametersInForce['parameters'], other: ParametersInForce['parameters']): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Array.from(names).every((name) => one[name] === other[name]);
}
