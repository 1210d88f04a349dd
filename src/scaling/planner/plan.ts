/** Runs plans: one scenario or several side by side, under a load that is read once. */
import { Simulation, type Scenario } from './model/simulation.ts';
import { RecordedLoad, type Arrival, type ArrivalStream } from './load/load.ts';
import type { PlanResult } from './result.ts';

/** Plans for a load in memory. Throws a RangeError for requests that are not in order of time. */
export function plan(scenario: Scenario, load: Iterable<Arrival>): PlanResult {
  const simulation = new Simulation(scenario);
  if (load instanceof RecordedLoad) load.replay((atSeconds, work) => simulation.arrive(atSeconds, work));
  else for (const { atSeconds, work } of load) simulation.arrive(atSeconds, work);
  return simulation.finish();
}

/** Plans for a load that streams by, for several scenarios at once; memory does not grow with its length. */
export async function planStream(
  scenarios: readonly Scenario[],
  load: ArrivalStream,
): Promise<readonly PlanResult[]> {
  const simulations = scenarios.map((scenario) => new Simulation(scenario));
  for await (const arrivals of load) {
    for (const simulation of simulations) {
      for (const { atSeconds, work } of arrivals) simulation.arrive(atSeconds, work);
    }
  }
  return simulations.map((simulation) => simulation.finish());
}
