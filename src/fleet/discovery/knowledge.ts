/** What the lists of endpoints have said, what each endpoint is called, and which are watched for it. Pure. */

/** Which endpoints are to be watched, as a user writes it: ids change with every redeployment, names stay. */
export type WantedEndpoint =
  | { readonly by: 'id'; readonly id: number }
  /** All that have the name. One whose name is a number is wanted by its id, or with all. */
  | { readonly by: 'name'; readonly name: string }
  /** All of the account. */
  | { readonly by: 'all' };

/** A row of the list: an endpoint with its parameters, as far as it tells them. */
export interface ListedEndpoint {
  readonly id: number;
  readonly endpoint_name?: string | null | undefined;
  readonly endpoint_state?: string | null | undefined;
  readonly [parameter: string]: unknown;
}

export interface EndpointsAnswer {
  readonly endpoints: readonly ListedEndpoint[];
  /** Rows that the service sent and nobody could read. */
  readonly unreadable: number;
}

export interface KnownEndpoint {
  readonly id: number;
  /** Undefined: it has none. */
  readonly name: string | undefined;
  /** What it is called everywhere: its name; `name#2` for the second that shares it; `#ID` without one. */
  readonly label: string;
  /** Its row of the last list that had it; undefined where it is known from an earlier process. */
  readonly row: ListedEndpoint | undefined;
  /** Lists in a row that did not have it, of those that could be read as a whole. */
  readonly missed: number;
}

/** In an order that stays: of those that share a name, the first has it, and the others are numbered behind it. */
export type Knowledge = readonly KnownEndpoint[];

type Unlabelled = Omit<KnownEndpoint, 'label'>;

/** An endpoint is gone when so many lists in a row do not have it: one that misses it may be a fault of the service. */
const LISTS_TO_BE_GONE = 2;

/**
 * A redeployment makes an endpoint of the same name under another id: what is new and has the name of one that is
 * missing takes its place, and with it its label, so that metrics and history go on. Where a row could not be read, it
 * may be that of any endpoint that the others lack: none counts as missing for that.
 */
export function afterList(known: Knowledge, { endpoints, unreadable }: EndpointsAnswer): Knowledge {
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

export type WatchedEndpoint = Pick<KnownEndpoint, 'id' | 'label'>;

/** Those that are wanted, in the order of the lists. One that is wanted by id needs no list. */
export function watchedEndpoints(
  wanted: readonly WantedEndpoint[],
  known: Knowledge,
): readonly WatchedEndpoint[] {
  const found = known.filter(({ id, name }) =>
    wanted.some((one) => one.by === 'all' || (one.by === 'id' ? one.id === id : one.name === name)),
  );
  const taken = new Set(known.map(({ label }) => label));
  const unlisted = wanted.flatMap((one) =>
    one.by === 'id' && !known.some(({ id }) => id === one.id)
      ? [{ id: one.id, label: freeLabel({ id: one.id, name: undefined }, taken) }]
      : [],
  );
  return [...found.map(({ id, label }) => ({ id, label })), ...unlisted];
}

/** Wanted by a name that no known endpoint has. */
export function unknownNames(wanted: readonly WantedEndpoint[], known: Knowledge): readonly string[] {
  const names = new Set(known.map(({ name }) => name));
  return wanted.flatMap((one) => (one.by === 'name' && !names.has(one.name) ? [one.name] : []));
}

function labelled(endpoints: readonly Unlabelled[]): Knowledge {
  const taken = new Set<string>();
  return endpoints.map((one) => {
    const label = freeLabel(one, taken);
    taken.add(label);
    return { ...one, label };
  });
}

/** Somebody may have called an endpoint `#7`. */
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
