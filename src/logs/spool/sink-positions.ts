/** Where each sink stands in the spool's records, which are numbered by position. */
import type { Batch } from './batch.ts';
import type { DropReason } from '../events.ts';
import type { Dropped, SinkStanding } from './spool.ts';

export interface Account extends SinkStanding {
  readonly sink: string;
  /** Position up to which the sink has acknowledged. */
  readonly acknowledged: number;
  /** Position up to which it has taken: between the two are the records on their way. */
  readonly taken: number;
  /** How many those are. */
  readonly underway: number;
}

export class SinkPositions {
  readonly #accounts = new Map<string, Account>();

  open(sink: string, acknowledged: number, { lag, dropped }: SinkStanding): void {
    this.#accounts.set(sink, { sink, acknowledged, taken: acknowledged, underway: 0, lag, dropped });
  }

  get accounts(): readonly Account[] {
    return [...this.#accounts.values()];
  }

  /** Up to here no sink wants a record any more. */
  get acknowledgedByAll(): number {
    return Math.min(...this.accounts.map(({ acknowledged }) => acknowledged));
  }

  account(sink: string): Account {
    const account = this.#accounts.get(sink);
    if (account === undefined) throw new Error(`the spool was not opened for a sink named ${sink}`);
    return account;
  }

  isUnderway(position: number): boolean {
    return this.accounts.some(({ acknowledged, taken }) => position > acknowledged && position <= taken);
  }

  append(records: number): void {
    for (const account of this.accounts) this.#change(account, { lag: account.lag + records });
  }

  take(sink: string, { through, lines }: Batch): void {
    this.#change(this.account(sink), { taken: through, underway: lines.length });
  }

  acknowledge(sink: string, { through, lines }: Batch): void {
    const account = this.account(sink);
    this.#change(account, {
      acknowledged: through,
      taken: through,
      underway: 0,
      lag: account.lag - lines.length,
    });
  }

  /** What sinks miss when the records at these positions go: who has taken one does not miss it. */
  missing(positions: readonly number[]): readonly Dropped[] {
    return this.#missed('overflow', ({ taken }) => positions.filter((position) => position > taken).length);
  }

  /** What sinks miss when all records go. */
  missingAll(): readonly Dropped[] {
    return this.#missed('corruption', ({ lag, underway }) => lag - underway);
  }

  drop(dropped: readonly Dropped[]): void {
    for (const { sink, records } of dropped) {
      const account = this.account(sink);
      this.#change(account, { lag: account.lag - records, dropped: account.dropped + records });
    }
  }

  #missed(reason: DropReason, count: (account: Account) => number): readonly Dropped[] {
    return this.accounts
      .map((account) => ({ sink: account.sink, records: count(account), reason }))
      .filter(({ records }) => records > 0);
  }

  #change(account: Account, change: Partial<Account>): void {
    this.#accounts.set(account.sink, { ...account, ...change });
  }
}
