/** The account's instances: by v1, else by v0, which newer accounts lack (410) but the interface has. */
import type { Instance } from '../../contract/operations/instances/instance-list.ts';
import type { CallOptions, ClientOf } from '../caller.ts';
import { ApiError, ResponseError } from '../errors.ts';

export type InstancesClient = Pick<ClientOf<'instances.page' | 'instances.list'>, 'instances'>;

const UNKNOWN_OPERATION: ReadonlySet<number> = new Set([404, 405, 501]);
/** More than an account has: a service that repeats its pages does not keep us. */
const MOST_PAGES = 400;

interface Wanted {
  readonly ids?: readonly number[];
  /** The fields of v1 rows; all if absent. */
  readonly columns?: readonly string[];
}

/** @throws CallError; an error is never an empty list */
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

export function isUnknownOperation(error: unknown): boolean {
  if (!(error instanceof ApiError || error instanceof ResponseError)) return false;
  return (
    UNKNOWN_OPERATION.has(error.status) && !(error instanceof ApiError && error.meaning === 'unauthorized')
  );
}
