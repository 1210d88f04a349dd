/** The real driver and the real engine (or a broken one) in a world of virtual time, with every promise watched. */

import { HeartbeatDriver } from '../../src/heartbeat/driver/driver.ts';
import { step as engineStep, type StepFunction } from '../../src/heartbeat/engine/engine.ts';
import { timingFor, type IntervalChoice } from '../../src/heartbeat/engine/formulas.ts';
import type { Heartbeat, Notice } from '../../src/heartbeat/engine/state.ts';
import { RateLimiter } from '../../src/client/rate-limiter.ts';
import type { VirtualTime } from '../support/virtual-time.ts';
import { Intervals } from './intervals.ts';
import { Network, type Weather } from './network.ts';
import { Promises } from './promises.ts';
import type { Random } from './random.ts';
import { Service } from './service.ts';

export interface WorldOptions {
  readonly random: Pick<Random, 'next'>;
  readonly weather: Weather;
  readonly step?: StepFunction | undefined;
  readonly concurrency?: number;
  readonly openLimit?: number;
  readonly limiter?: RateLimiter | undefined;
  readonly trace?: boolean | undefined;
}

/** The contract's. */
export const SPACINGS = { 'deployments.heartbeat': 2_000 };

export class World {
  readonly time: VirtualTime;
  readonly service: Service;
  readonly network: Network;
  readonly driver: HeartbeatDriver;
  readonly promises: Promises;
  readonly intervals = new Intervals();
  readonly trace: string[] = [];
  keyFile = 'key-1';
  readonly lost: number[] = [];
  onNotice: (id: number, notice: Notice) => void = () => {};
  onStep: (beat: Heartbeat) => void = () => {};
  readonly #tracing: boolean;

  constructor(time: VirtualTime, options: WorldOptions) {
    this.time = time;
    this.#tracing = options.trace ?? false;
    this.service = new Service(this.time);
    this.network = new Network(this.time, this.service, options.weather);
    this.promises = new Promises(this.time, this.service);
    this.network.onSend = (flight) => {
      this.note(
        () => `  -> request ${flight.number} of ${flight.deploymentId}${flight.fresh ? ', fresh' : ''}`,
      );
      this.promises.sent(flight);
    };
    this.network.onSettle = (flight, how) => {
      this.note(() => `  <- request ${flight.number}: ${how} after ${ms(this.time.now - flight.sentAt)}`);
      this.promises.settled(flight);
    };
    this.service.onLoss = (id) => {
      this.note(() => `** the service deletes deployment ${id}: its TTL has passed`);
      this.lost.push(id);
    };
    this.driver = this.#drive(options);
  }

  add(id: number, ttl: number, interval: IntervalChoice = 'auto'): void {
    this.promises.watch(id, timingFor({ ttl, interval }));
    this.service.create(id, ttl);
    this.driver.add({ id, ttl, interval });
  }

  stall(length: number): void {
    this.note(() => `     (our process stalls for ${ms(length)})`);
    this.promises.frozen(length);
    this.time.stall(length);
  }

  suspend(length: number, monoRuns: boolean): void {
    this.note(
      () => `     (the machine sleeps for ${ms(length)}, monotonic clock ${monoRuns ? 'runs' : 'stands'})`,
    );
    this.promises.frozen(length);
    this.time.suspend(length, monoRuns);
  }

  stepWallClock(by: number): void {
    this.note(() => `     (the wall clock is set by ${ms(by)})`);
    this.time.stepWallClock(by);
  }

  /** Lets time pass, in true ms, until `end`, until `done` says so or until a promise is broken. */
  async run(end: number, done: () => boolean = () => false): Promise<void> {
    while (this.time.now < end && !done() && this.promises.broken.length === 0)
      await this.time.runUntil(Math.min(end, this.time.now + 1000));
  }

  note(line: () => string): void {
    if (this.#tracing) this.trace.push(`${(this.time.now / 1000).toFixed(3).padStart(10)} s  ${line()}`);
  }

  #drive({
    random,
    step = engineStep,
    concurrency = 256,
    openLimit,
    limiter,
  }: WorldOptions): HeartbeatDriver {
    return new HeartbeatDriver({
      key: this.keyFile,
      concurrency,
      ...(openLimit !== undefined && { openLimit }),
      limiter: limiter ?? new RateLimiter({ spacings: SPACINGS, random: random.next }),
      step: (beat, event, now, draw) => {
        const result = step(beat, event, now, draw);
        this.promises.stepped(beat, result, now);
        this.intervals.stepped(beat.id, beat, result);
        this.onStep(result.beat);
        return result;
      },
      ports: {
        clock: this.time.clock,
        random: random.next,
        setTimer: this.time.setTimer,
        beat: this.network.beat,
        readKey: async () => this.keyFile,
        listener: (id, notice) => {
          this.note(() => `     ${id}: ${JSON.stringify(notice)}`);
          this.onNotice(id, notice);
        },
      },
    });
  }
}

export function ms(duration: number): string {
  return `${duration.toFixed(1)} ms`;
}
