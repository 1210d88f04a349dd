/** Lists that come in pages. A list that fails is an error, never an empty list. */
import type { Instance } from '../../contract/operations/instances/instance-list.ts';
import type { Charge } from '../../contract/operations/spend.ts';
import type { OperationId } from '../../contract/operations.ts';
import { rowsLeftOut } from '../../wire/reading.ts';
import type { CallOptions, ClientOf } from '../caller.ts';
import { ApiError, ResponseError } from '../errors.ts';

export type InstancesClient = Pick<ClientOf<'instances.page' | 'instances.list'>, 'instances'>;

/** More than an account has: it ends a loop if the service repeats its pages. */
const MOST_PAGES = 400;

async function* pagesOf<Page extends { readonly next_token?: string | null | undefined }>(
  id: OperationId,
  ask: (after: string | undefined) => Promise<Page>,
): AsyncGenerator<Page> {
  const seen = new Set<string>();
  let after: string | undefined;
  while (seen.size < MOST_PAGES) {
    const page = await ask(after);
    yield page;
    after = page.next_token || undefined;
    if (after === undefined) return;
    if (seen.has(after)) break;
    seen.add(after);
  }
  const [what] = id.split('.');
  throw new ResponseError(id, 200, `the list of ${what} repeats its pages, or does not end`);
}

/**
 * Charges of serverless workers; a row is the sum over all days (Unix seconds).
 * @throws CallError
 */
export async function listCharges(
  client: Pick<ClientOf<'charges.list'>, 'charges'>,
  { from, to }: { readonly from: number; readonly to: number },
  options: CallOptions = {},
): Promise<{ readonly rows: readonly Charge[]; readonly unreadable: number }> {
  const filters = { day: { gte: from, lte: to }, type: { in: ['serverless' as const] } };
  const rows: Charge[] = [];
  let unreadable = 0;
  const pages = pagesOf('charges.list', (after) =>
    client.charges.list({ select_filters: filters, limit: 100, after_token: after }, options),
  );
  for await (const page of pages) {
    rows.push(...page.results);
    unreadable += rowsLeftOut(page);
  }
  return { rows, unreadable };
}

/**
 * By v1, else by v0, which newer accounts lack (410) but the interface has. `columns`: the fields of v1 rows.
 * @throws CallError
 */
export async function listInstances(
  client: InstancesClient,
  {
    ids,
    columns,
    ...options
  }: CallOptions & { readonly ids?: readonly number[]; readonly columns?: readonly string[] } = {},
): Promise<readonly Instance[]> {
  const select_filters = ids && { id: { in: [...ids] } };
  const select_cols = columns && [...columns];
  const found: Instance[] = [];
  try {
    const pages = pagesOf('instances.page', (after) =>
      client.instances.page({ select_filters, select_cols, after_token: after }, options),
    );
    for await (const page of pages) found.push(...page.instances);
    return found;
  } catch (error) {
    if (found.length > 0 || !isUnknownOperation(error)) throw error;
  }
  const { instances } = await client.instances.list({}, options);
  return ids === undefined ? instances : instances.filter(({ id }) => ids.includes(id));
}

export function isUnknownOperation(error: unknown): boolean {
  const isAnswer = error instanceof ApiError || error instanceof ResponseError;
  return isAnswer && error.code !== 'unauthorized' && [404, 405, 501].includes(error.status);
}
