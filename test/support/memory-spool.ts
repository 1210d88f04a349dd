/** A spool without a STATE_DIR. */
import * as sqlite from 'node:sqlite';
import type { LogListener } from '../../src/logs/events.ts';
import { Spool } from '../../src/logs/spool/spool.ts';
import { systemClock } from '../../src/time/clock.ts';

export function memorySpool(
  sinks: readonly string[],
  maxBytes?: number,
  observe: LogListener = () => {},
): Spool {
  return new Spool(sqlite, {
    sinks,
    ...(maxBytes !== undefined && { maxBytes }),
    clock: systemClock,
    observe,
  });
}
