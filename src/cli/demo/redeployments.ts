/** The redeployments of the demo: a deployment is deleted and made anew, under another id and the same name. */
import { delay } from '../../client/delay.ts';
import type { DeploymentView, Emulator } from '../../emulator/index.ts';
import type { Screen } from './screen.ts';

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
    screen.event('redeployed', `${name} was deployment ${before.id}, is now ${id}; nobody says so`, 'warn');
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
