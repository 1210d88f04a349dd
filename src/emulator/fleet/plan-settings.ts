/** What the emulator has, as the planner takes it: who plans with it gets what the emulator does. Pure. */
import { planSettings, type PlanSettings } from '../../scaling/planner/settings.ts';
import { resolveDefaults } from '../../scaling/rules/check.ts';
import type { ResolvedParameters } from '../../scaling/rules/findings.ts';
import { mixSeeds } from '../random.ts';
import type { Settings } from '../state/settings.ts';
import type { Surroundings } from './site.ts';

export function planSettingsOf(settings: Settings, endpointId: number): PlanSettings {
  const {
    workerPerformanceLeast: least,
    instanceCreatedSeconds,
    instanceLoadingSeconds,
    workerModelLoadingSeconds,
  } = settings;
  return planSettings({
    performance: { least, most: Math.max(least, settings.workerPerformanceMost) },
    slots: settings.workerSlots,
    startSeconds: instanceCreatedSeconds + instanceLoadingSeconds + workerModelLoadingSeconds,
    coldStartSeconds: settings.workerColdStartSeconds,
    priceHot: (settings.workerPriceLeast + settings.workerPriceMost) / 2,
    controlSeconds: settings.engineDecisionSeconds,
    loadWindowSeconds: settings.engineLoadWindowSeconds,
    scaleDownSeconds: settings.engineScaleDownSeconds,
    destroySeconds: settings.engineDestroySeconds,
    giveUpSeconds: settings.requestGiveUpSeconds,
    // Endpoints differ in what chance gives them.
    seed: mixSeeds(settings.randomSeed, endpointId),
  });
}

export function parametersIn({ state, endpoint, groups }: Surroundings): ResolvedParameters {
  const parameters = resolveDefaults(endpoint.parameters);
  // Without a worker group there is nothing to recruit for, and machines are not without end.
  const most = groups.length > 0 ? state.settings.workersMost : 0;
  return { ...parameters, max_workers: Math.min(parameters.max_workers, most) };
}
