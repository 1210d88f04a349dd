/** Whether a deployment that lapsed in real time could have been saved, on a machine that may itself stand still. */
import type { Timing } from '../../src/heartbeat/engine/formulas.ts';
import { findWindow, type Span } from '../simulation/scenario.ts';

/** Beyond this a timer of this busy process is too late to blame anybody else for what follows, ms. */
const LOOK_MS = 25;

/** The first X outside of `bad`, between the interval after the last beat that counted (`basis`, ms) and the end of its TTL. */
export function openWindow(bad: readonly Span[], basis: number, timing: Timing): Span | undefined {
  const { interval, rescue, life } = timing;
  return findWindow(bad, { from: basis + interval, length: rescue, end: basis + life });
}

/** Times in which this process did not get to run for longer than `tick`, ms. */
export function watchLateness(tick: number): { readonly spans: readonly Span[] } & Disposable {
  const spans: Span[] = [];
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - last > LOOK_MS + tick) spans.push({ from: last, to: now });
    last = now;
  }, LOOK_MS);
  return { spans, [Symbol.dispose]: () => clearInterval(timer) };
}
