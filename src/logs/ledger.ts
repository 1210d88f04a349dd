/** Where each sink stands in the spool's records, by position. */
import type { Dropped, SinkStanding } from './spool.ts';

interface Account {
  /** Position up to which the sink has acknowledged. */
  acknowledged: number;
  /** Position up to which it has taken. Between the two: records on their way. */
  taken: number;
  lag: number;
  dropped: number;
}

export class SinkLedger {
  readonly #accounts = new Map<string, Account>();

  open(sink: string, acknowledged: number, { lag, dropped }: SinkStanding): void {
    this.#accounts.set(sink, { acknowledged, taken: acknowledged, lag, dropped });
  }

  get sinks(): readonly string[] {
    return [...this.#accounts.keys()];
  }

  /** Up to here no sink wants a record any more. */
  get acknowledgedByAll(): number {
    return Math.min(...Array.from(this.#accounts.values(), ({ acknowledged }) => acknowledged));
  }

  account(sink: string): Readonly<Account> {
    return this.#account(sink);
  }

  appended(records: number): void {
    for (const account of this.#accounts.values()) account.lag += records;
  }

  take(sink: string, through: number): void {
    this.#account(sink).taken = through;
  }

  acknowledge(sink: string, through: number, records: number): void {
    const account = this.#account(sink);
    account.acknowledged = through;
    account.lag -= records;
  }

  /** Records at these positions are gone; who had not taken them has missed them. */
  drop(positions: readonly number[]): readonly Dropped[] {
    return Array.from(this.#accounts, ([sink, account]) => {
      const records = positions.filter((position) => position > account.taken).length;
      account.lag -= records;
      account.dropped += records;
      return { sink, records, reason: 'overflow' as const };
    }).filter(({ records }) => records > 0);
  }

  #account(sink: string): Account {
    const account = this.#accounts.get(sink);
    if (account === undefined) throw new Error(`the spool was not opened for a sink named ${sink}`);
    return account;
  }
}
