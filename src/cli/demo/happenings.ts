/**
 * What happens to the service of the demo. Faults, which apply to every request for a while and are announced before and
 * after; and redeployments, in which a deployment is deleted and made anew under another id and the same name.
 */
import { delay } from '../../client/delay.ts';
import type { DeploymentView, Emulator, FaultInput } from '../../emulator/index.ts';
import type { Screen } from './screen.ts';

/** Acts again and again, after a pause each time, until the signal fires. */
async function takeTurns(
  [firstMs, laterMs]: readonly [firstMs: number, laterMs: number],
  signal: AbortSignal,
  act: (turn: number) => Promise<void> | void,
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn += 1) {
    await delay(turn === 0 ? firstMs : laterMs, signal).catch(() => {});
    if (!signal.aborted) await act(turn);
  }
}

/** Quiet time before each fault, in ms. */
const FAULT_PAUSES = [5_000, 12_000] as const;
const LENGTH_MS = 4_000;
/** The first one after the first fault, the next four faults later: a fault never hides what is shown here. */
const REDEPLOYMENT_PAUSES = [12_000, 64_000] as const;

const FAULTS: readonly { readonly says: string; readonly fault: FaultInput }[] = [
  { says: 'the service refuses every connection', fault: { kind: 'refused' } },
  { says: 'the service hangs: it takes requests and never answers', fault: { kind: 'hang' } },
  { says: 'the service answers 429 "API requests too frequent" as plain text', fault: { kind: 'throttled' } },
  { says: 'a proxy answers HTML with status 200', fault: { kind: 'html' } },
  { says: 'the service answers 503', fault: { kind: 'status', status: 503 } },
];

/** One fault after the other; when the signal fires, the last one is removed. */
export function createFaultPlan(emulator: Emulator, screen: Screen) {
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
    run: (signal: AbortSignal) =>
      takeTurns(FAULT_PAUSES, signal, async (turn) => {
        const next = FAULTS[turn % FAULTS.length];
        if (next) await inject(next, signal);
      }),
    /** Survived are those after which every deployment was still alive, as the emulator recorded it. */
    report: () => ({ injected, survived }),
  };
}

/** `name` is the one by which the daemon keeps it alive. */
export function createRedeployments(emulator: Emulator, name: string, screen: Screen) {
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
    run: (signal: AbortSignal) => takeTurns(REDEPLOYMENT_PAUSES, signal, redeploy),
    /** Those that are no more, each as it was at its end: what they took and how close they came still counts. */
    replaced: (): readonly DeploymentView[] => replaced,
  };
}
