import type { Charge } from '../../contract/operations/spend.ts';
import type { CallOptions, ClientOf } from '../caller.ts';
import { rowsLeftOut } from '../../wire/reading.ts';
import { ResponseError } from '../errors.ts';

export type ChargesClient = Pick<ClientOf<'charges.list'>, 'charges'>;

export interface ChargedDays {
  readonly from: number;
  readonly to: number;
}

/** More than an account has in a day: a service that repeats its pages does not keep us. */
const MOST_PAGES = 400;
const PAGE = 100;

/**
 * Charges of serverless workers; a row is the sum over all days (Unix seconds).
 * @throws CallError; an error is never an empty list
 */
export async function listCharges(
  client: ChargesClient,
  { from, to }: ChargedDays,
  options: CallOptions = {},
): Promise<{ readonly rows: readonly Charge[]; readonly unreadable: number }> {
  const filters = { day: { gte: from, lte: to }, type: { in: ['serverless' as const] } };
  const found: Charge[] = [];
  let unreadable = 0;
  let after: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = {
      select_filters: filters,
      limit: PAGE,
      ...(after !== undefined && { after_token: after }),
    };
    const answer = await client.charges.list(query, options);
    found.push(...answer.results);
    unreadable += rowsLeftOut(answer);
    const next = answer.next_token || undefined;
    if (next === undefined) return { rows: found, unreadable };
    if (next === after) break;
    after = next;
  }
  throw new ResponseError('charges.list', 200, 'the list of charges repeats its pages, or does not end');
}
