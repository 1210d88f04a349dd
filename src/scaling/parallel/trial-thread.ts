/** A thread of a search: runs trials over loads whose memory it shares. */
import { parentPort, workerData } from 'node:worker_threads';
import { RecordedLoad, type SharedLoad } from '../planner/load.ts';
import { runTrial, type Trial, type TrialGround } from '../planner/search/trial.ts';

export interface SharedGround extends Omit<TrialGround, 'loads'> {
  readonly loads: readonly SharedLoad[];
}

const shared = workerData as SharedGround;
const ground: TrialGround = { ...shared, loads: shared.loads.map((load) => new RecordedLoad(load)) };

parentPort?.on('message', (trial: Trial) => parentPort?.postMessage(runTrial(ground, trial)));
