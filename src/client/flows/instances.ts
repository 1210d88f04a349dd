/**
 * The account's instances, from whichever list the service has. The public service answers the one of v0 with 410 for newer
 * accounts, and the interface knows no other: v1 is asked first, and v0 if the service does not know v1.
 */
import type { Instance } from '../../contract/operations/instances/instance-list.ts';
import type { CallOptions, ClientOf } from '../caller.ts';
import { ApiError, ResponseError } from '../errors.ts';

export type InstancesClient = Pick<ClientOf<'instances.page' | 'instances.list'>, 'instances'>;

/** Statuses of a service that does not know such an operation. */
const UNKNOWN_OPERATION: ReadonlySet<number> = new Set([404, 405, 501]);
/** More than any account has; a service that repeats its pages for ever does not keep us. */
const MOST_PAGES = 400;

interface Wanted {
  readonly ids?: readonly number[];
  /** What of them is asked for; all without it. The old list always tells all. */
  readonly columns?: readonly string[];
}

/**
 * All instances, or those of `ids`.
 *
 * @throws CallError; an error is never an empty list
 */
export async function listInstances(
  client: InstancesClient,
  { ids, columns, ...options }: CallOptions & Wanted = {},
): Promise<readonly Instance[]> {
  const filters = {
    ...(ids && { select_filters: { id: { in: [...ids] } } }),
    ...(columns && { select_cols: [...columns] }),
  };
  const found: Instance[] = [];
  const seen = new Set<string>();
  let after: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = { ...filters, ...(after !== undefined && { after_token: after }) };
    const answer = await client.instances.page(query, options).catch((error: unknown) => {
      if (page === 0 && isUnknownOperation(error)) return undefined;
      throw error;
    });
    if (answer === undefined) return listOldInstances(client, ids, options);
    found.push(...answer.instances);
    after = answer.next_token || undefined;
    if (after === undefined) return found;
    if (seen.has(after)) break;
    seen.add(after);
  }
  throw new ResponseError('instances.page', 200, 'the list of instances repeats its pages, or does not end');
}

async function listOldInstances(
  client: InstancesClient,
  ids: readonly number[] | undefined,
  options: CallOptions,
): Promise<readonly Instance[]> {
  const { instances } = await client.instances.list({}, options);
  return ids === undefined ? instances : instances.filter(({ id }) => ids.includes(id));
}

/** Whether a call failed because the service has no such operation. */
export function isUnknownOperation(error: unknown): boolean {
  if (!(error instanceof ApiError || error instanceof ResponseError)) return false;
  return (
    UNKNOWN_OPERATION.has(error.status) && !(error instanceof ApiError && error.meaning === 'unauthorized')
  );
}
