/** What holds at every moment of every run, whatever the weather: spacing, at most two attempts, their length, and the estimate. */

import type { Step } from '../../src/heartbeat/engine/engine.ts';
import { MIN_SPACING, type Timing } from '../../src/heartbeat/engine/formulas.ts';
import { expiresAt, type Heartbeat, type Instant } from '../../src/heartbeat/engine/state.ts';
import type { VirtualTime } from '../support/virtual-time.ts';
import type { Flight } from './network.ts';
import type { Service } from './service.ts';

/** Clock readings are whole milliseconds; virtual timers are this coarse. */
const TOLERANCE = 1;

interface Watched {
  readonly timing: Timing;
  readonly open: Set<Flight>;
  lastSentAt: number;
}

export class Promises {
  readonly broken: string[] = [];
  readonly #time: VirtualTime;
  readonly #service: Service;
  readonly #watched = new Map<number, Watched>();
  readonly #freezes: { readonly from: number; readonly to: number }[] = [];

  constructor(time: VirtualTime, service: Service) {
    this.#time = time;
    this.#service = service;
  }

  watch(id: number, timing: Timing): void {
    this.#watched.set(id, { timing, open: new Set(), lastSentAt: -Infinity });
  }

  frozen(length: number): void {
    this.#freezes.push({ from: this.#time.now, to: this.#time.now + length });
  }

  /** At most two under way, and their starts at least 1 s apart in true time. */
  sent(flight: Flight): void {
    const watched = this.#watched.get(flight.deploymentId);
    if (watched === undefined) return;
    watched.open.add(flight);
    if (watched.open.size > 2)
      this.#break(flight.deploymentId, `${watched.open.size} requests under way at once`);
    const gap = flight.sentAt - watched.lastSentAt;
    if (gap < MIN_SPACING - TOLERANCE) this.#break(flight.deploymentId, `two attempts only ${gap} ms apart`);
    watched.lastSentAt = flight.sentAt;
  }

  settled(flight: Flight): void {
    this.#checkLife(flight);
    this.#watched.get(flight.deploymentId)?.open.delete(flight);
  }

  /** The spacing is kept, and the estimate of the remaining time is never above the service's. */
  stepped(before: Heartbeat, { beat, actions }: Step, now: Instant): void {
    const { id } = before;
    const gap = now.mono - before.lastSentAt;
    if (gap < MIN_SPACING - TOLERANCE && actions.some(({ type }) => type === 'send'))
      this.#break(id, `an attempt after ${gap} ms`);
    if (beat.acknowledged && beat.state !== 'stopped') this.estimated(id, expiresAt(beat) - now.mono);
  }

  estimated(id: number, remaining: number): void {
    const expiry = this.#service.expiresAt(id);
    const truth = expiry === undefined ? 0 : expiry - this.#time.now;
    if (remaining > truth + TOLERANCE) {
      this.#break(id, `${remaining} ms are said to be left, when ${truth} ms are`);
    }
  }

  finish(): void {
    for (const { open } of this.#watched.values()) for (const flight of open) this.#checkLife(flight);
  }

  /** Every attempt settles within 2A + B + q + P; a pause longer than P is added. */
  #checkLife(flight: Flight): void {
    const timing = this.#watched.get(flight.deploymentId)?.timing;
    if (timing === undefined) return;
    const paused = this.#freezes
      .map(({ from, to }) => Math.min(to, this.#time.now) - Math.max(from, flight.sentAt))
      .reduce((total, length) => total + Math.max(0, length), 0);
    const allowed = timing.attemptLife + timing.tick + Math.max(timing.pause, paused);
    const life = this.#time.now - flight.sentAt;
    if (life > allowed + TOLERANCE)
      this.#break(flight.deploymentId, `request ${flight.number} lived for ${life} ms`);
  }

  #break(id: number, what: string): void {
    if (this.broken.length < 10)
      this.broken.push(`${this.#time.now.toFixed(1)} ms: deployment ${id}: ${what}`);
  }
}
