/** Followers of a log as people write them today, and what anyone printed held against what was written. */
import type { Client } from '../../src/client/client.ts';
import { LIMITS } from '../../src/contract/limits.ts';
import { lastState } from '../../src/logs/answer.ts';

/**
 * Asks for a tail every second and prints what stands after the lines that it printed last. It is dealt with kindly:
 * the widest tail there is, a poll that fails or has no line is left out, and what is drawn again and again counts by
 * its last state.
 */
export class AnchorPoller {
  readonly printed: string[] = [];
  readonly #client: Client;
  readonly #group: number;
  readonly #anchorLines: number;

  constructor(client: Client, group: number, anchorLines: number) {
    this.#client = client;
    this.#group = group;
    this.#anchorLines = anchorLines;
  }

  async poll(): Promise<void> {
    const answer = await this.#client.workergroups
      .logs({ id: this.#group, tail: LIMITS.logTailMax }, { retry: false })
      .catch(() => undefined);
    if (typeof answer !== 'object' || typeof answer.logs !== 'string' || answer.logs === '') return;
    const lines = answer.logs.replace(/\n$/, '').split('\n');
    const anchor = this.printed.slice(-this.#anchorLines);
    this.printed.push(...lines.slice(endOfLast(lines, anchor)));
  }
}

/** The place after the last occurrence of some lines in a row; 0 where there is none. */
function endOfLast(lines: readonly string[], anchor: readonly string[]): number {
  for (let end = anchor.length === 0 ? 0 : lines.length; end >= anchor.length && end > 0; end--) {
    if (anchor.every((line, index) => lines[end - anchor.length + index] === line)) return end;
  }
  return 0;
}

export interface Tally {
  /** Lines twice, or in part. */
  readonly extra: number;
  readonly lost: number;
}

/** By content: of lines that are the same, any may stand for any other. */
export function tally(printed: readonly string[], truth: readonly string[]): Tally {
  const surplus = new Map<string, number>();
  const count = (line: string, by: number) => {
    const state = lastState(line);
    surplus.set(state, (surplus.get(state) ?? 0) + by);
  };
  for (const line of printed) count(line, 1);
  for (const line of truth) count(line, -1);
  let [extra, lost] = [0, 0];
  for (const by of surplus.values()) {
    extra += Math.max(0, by);
    lost += Math.max(0, -by);
  }
  return { extra, lost };
}
