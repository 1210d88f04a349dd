/** The faults of the demo: each applies to every request for a while, and is announced before and after. */
import { delay } from '../../client/delay.ts';
import type { Emulator, FaultInput } from '../../emulator/index.ts';
import type { Screen } from './screen.ts';

export interface FaultReport {
  readonly injected: number;
  /** Those after which every deployment was still alive, as the emulator recorded it. */
  readonly survived: number;
}

export interface FaultPlan {
  /** One fault after the other, until the signal fires; then the last one is removed. */
  run(signal: AbortSignal): Promise<void>;
  report(): FaultReport;
}

/** Quiet time before each fault, in ms. */
const PAUSE_MS = 5_000;
const LATER_PAUSE_MS = 12_000;
const LENGTH_MS = 4_000;

const FAULTS: readonly { readonly says: string; readonly fault: FaultInput }[] = [
  { says: 'the service refuses every connection', fault: { kind: 'refused' } },
  { says: 'the service hangs: it takes requests and never answers', fault: { kind: 'hang' } },
  { says: 'the service answers 429 "API requests too frequent" as plain text', fault: { kind: 'throttled' } },
  { says: 'a proxy answers HTML with status 200', fault: { kind: 'html' } },
  { says: 'the service answers 503', fault: { kind: 'status', status: 503 } },
];

export function createFaultPlan(emulator: Emulator, screen: Screen): FaultPlan {
  let injected = 0;
  let survived = 0;

  async function inject({ says, fault }: (typeof FAULTS)[number], signal: AbortSignal): Promise<void> {
    await using _lifted = await emulator.faults.add(fault);
    injected += 1;
    screen.event('fault', `${says}, for ${LENGTH_MS / 1000} s`, 'warn');
    await delay(LENGTH_MS, signal).catch(() => {});
    const expired = emulator.deployments.list().filter((deployment) => deployment.expired);
    if (expired.length === 0) survived += 1;
    screen.event('fault', 'over', 'warn');
  }

  return {
    async run(signal) {
      for (let turn = 0; !signal.aborted; turn += 1) {
        await delay(turn === 0 ? PAUSE_MS : LATER_PAUSE_MS, signal).catch(() => {});
        const next = FAULTS[turn % FAULTS.length];
        if (!signal.aborted && next) await inject(next, signal);
      }
    },
    report: () => ({ injected, survived }),
  };
}
