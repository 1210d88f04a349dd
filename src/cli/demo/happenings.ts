/**
 * What happens to the service of the demo. Faults, which apply to every request for a while and are announced before and
 * after; and redeployments, in which a deployment is deleted and made anew under another id and the same name.
 */
import { delay } from '../../client/delay.ts';
import type { DeploymentView, Emulator, FaultInput } from '../../emulator/index.ts';
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

export interface Redeployments {
  /** One after the other, until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
  /** Those that are no more, each as it was at its end: what they took and how close they came still counts. */
  replaced(): readonly DeploymentView[];
}

/** After the first fault is over, and before the second one begins, in ms. */
const FIRST_MS = 12_000;
/** Four faults later, so that a fault never hides what is shown here, in ms. */
const AGAIN_MS = 64_000;

/** `name` is the one by which the daemon keeps it alive. */
export function createRedeployments(emulator: Emulator, name: string, screen: Screen): Redeployments {
  const replaced: DeploymentView[] = [];

  function redeploy(): void {
    const { deployments } = emulator;
    const before = deployments.list().find((deployment) => deployment.name === name);
    if (!before) return;
    const id = deployments.redeploy(before.id);
    replaced.push(before);
    screen.event('redeployed', `${name} was deployment ${before.id}, is now ${id}`, 'warn');
  }

  return {
    async run(signal) {
      for (let turn = 0; !signal.aborted; turn += 1) {
        await delay(turn === 0 ? FIRST_MS : AGAIN_MS, signal).catch(() => {});
        if (!signal.aborted) redeploy();
      }
    },
    replaced: () => replaced,
  };
}
