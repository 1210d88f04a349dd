/** A history of endpoints on virtual time, with what it said. */
import { History } from '../../src/fleet/history/history.ts';
import type { Kept, Write } from '../../src/fleet/history/sample-table.ts';
import type { FleetSample } from '../../src/fleet/workers/measure.ts';
import type { WorkerLife } from '../../src/fleet/workers/lives.ts';
import { VirtualClock } from './log-time.ts';
import { sampleAt } from './recorded-fleet.ts';

export class Keeper {
  readonly clock: VirtualClock;
  readonly kept = { lives: [] as WorkerLife[], starts: new Map(), known: undefined } satisfies Kept;
  readonly troubles: unknown[] = [];
  stored = 0;
  readonly aside: string[] = [];
  readonly history: History;

  constructor(directory: string | undefined, nowMs?: number) {
    this.clock = new VirtualClock(nowMs);
    this.history = new History({
      directory,
      clock: this.clock,
      kept: () => this.kept,
      notice: (notice) => {
        if (notice.kind === 'history not stored') this.troubles.push(notice.error);
        if (notice.kind === 'history stored again') this.stored += 1;
        if (notice.kind === 'history set aside') this.aside.push(notice.path);
      },
    });
  }

  static async open(directory: string | undefined): Promise<Keeper> {
    const keeper = new Keeper(directory);
    await keeper.history.open();
    return keeper;
  }

  record(sample: FleetSample, more: Write = {}): void {
    this.history.record({ sample: ['chat', sample], ...more });
  }

  async sample(load: number | null, afterMs = 15_000): Promise<void> {
    await this.clock.advance(afterMs);
    this.record(sampleAt(this.clock.now(), { load }));
  }

  query(agoMs: number, maxRows: number, endpoint = 'chat') {
    const toMs = this.clock.now() + 1;
    return this.history.query({ endpoint, fromMs: toMs - agoMs, toMs, maxRows });
  }

  async loads(): Promise<number[]> {
    const rows = await this.history.query({ endpoint: 'chat', fromMs: 0, toMs: Infinity, maxRows: 100_000 });
    return rows.map(({ measures }) => measures.load.sum);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.history.stop();
  }
}
