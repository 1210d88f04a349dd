/** A watch of endpoints on virtual time, and a service that answers as a test says. */
import { onTestFinished } from 'vitest';
import type { Worker } from '../../src/contract/operations/serverless/workers.ts';
import type { ListedEndpoint } from '../../src/fleet/discovery/endpoints.ts';
import type { FleetNotice } from '../../src/fleet/view.ts';
import { FleetWatch, type FleetWatchOptions, type PriceCeilings } from '../../src/fleet/watch.ts';
import type { FleetEvent } from '../../src/fleet/workers/lives.ts';
import type { Price } from '../../src/fleet/workers/measure.ts';
import { VirtualClock } from './log-time.ts';

export class FleetWorld {
  readonly clock: VirtualClock;
  endpoints: () => readonly ListedEndpoint[] | Promise<never> = () => [];
  workers: (id: number) => readonly Worker[] | Promise<readonly Worker[]> = () => [];
  readonly prices = new Map<number, Price>();
  ceilings: PriceCeilings = new Map();
  readonly lacking: boolean[] = [];
  readonly asked: { readonly id: number; readonly atMs: number; readonly everyMs: number }[] = [];
  lists = 0;
  /** Rows of the list of endpoints. */
  unreadable = 0;
  /** Rows of a list of workers. */
  unreadableWorkers = 0;
  readonly events: FleetEvent[] = [];
  readonly notices: FleetNotice[] = [];
  watch!: FleetWatch;

  constructor(clock = new VirtualClock()) {
    this.clock = clock;
  }

  async start(options: Partial<FleetWatchOptions> = {}): Promise<this> {
    this.watch = new FleetWatch({
      endpoints: [{ by: 'all' }],
      fleetInterval: 15_000,
      endpointGroups: [],
      service: {
        endpoints: async () => {
          this.lists += 1;
          return { endpoints: await this.endpoints(), unreadable: this.unreadable };
        },
        workers: async (id, everyMs) => {
          this.asked.push({ id, atMs: this.clock.now(), everyMs });
          return { workers: await this.workers(id), unreadable: this.unreadableWorkers };
        },
        priceCeilings: () => Promise.resolve(this.ceilings),
        spend: { told: async () => new Map(), charges: async () => [], howRefused: () => undefined },
        prices: {
          known: () => this.prices,
          listedAtMs: () => this.clock.now(),
          refresh: (isLacking) => this.lacking.push(isLacking),
        },
      },
      directory: undefined,
      onEvent: (event) => this.events.push(event),
      notice: (notice) => this.notices.push(notice),
      clock: this.clock,
      random: () => 0.5,
      ...options,
    });
    onTestFinished(() => this.watch.stop());
    await this.watch.start();
    return this;
  }

  pass(seconds: number): Promise<void> {
    return this.clock.advance(seconds * 1_000);
  }

  one(label = 'chat') {
    const found = this.watch.view().endpoints.find(({ endpoint }) => endpoint === label);
    if (!found) throw new Error(`${label} is not watched`);
    return found;
  }

  labels(): string[] {
    return this.watch.view().endpoints.map(({ endpoint }) => endpoint);
  }

  /** Seconds between looks at an endpoint. */
  gaps(id = 31): number[] {
    const times = this.asked.filter((one) => one.id === id).map(({ atMs }) => atMs);
    return times.slice(1).map((at, index) => (at - (times[index] ?? 0)) / 1_000);
  }
}
