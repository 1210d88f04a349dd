/** What an engine is made of, put together and put away. */
import type { RandomState } from '../../scaling/planner/load/random.ts';
import type { SavedGroup } from '../../scaling/planner/model/group.ts';
import { PlanStats, type SavedStats } from '../../scaling/planner/model/stats.ts';
import type { PlanSettings } from '../../scaling/planner/settings.ts';
import type { ResolvedParameters } from '../../scaling/rules/findings.ts';
import { Agenda, type Due } from './life/agenda.ts';
import { Failures, type FailureCounts } from './life/failures.ts';
import { Fate } from './life/fate.ts';
import { Lives } from './life/lives.ts';
import { LivingGroup } from './life/living-group.ts';
import { Roster, type SavedRoster } from './life/roster.ts';
import { parametersIn, planSettingsOf } from './plan-settings.ts';
import { AskedLoad, type SavedAskedLoad } from './requests/asked-load.ts';
import { Requests, type SavedRequests } from './requests/requests.ts';
import { Site, type Surroundings } from './site.ts';
import { Chronicle } from './story/chronicle.ts';

export interface EngineParts {
  readonly site: Site;
  readonly settings: PlanSettings;
  readonly stats: PlanStats;
  readonly roster: Roster;
  readonly agenda: Agenda;
  readonly fate: Fate;
  readonly requests: Requests;
  readonly asked: AskedLoad;
  readonly lives: Lives;
  readonly group: LivingGroup;
  readonly failures: Failures;
}

export interface SavedParts {
  readonly parameters: ResolvedParameters;
  readonly group: SavedGroup;
  readonly stats: SavedStats;
  readonly roster: SavedRoster;
  readonly asked: SavedAskedLoad;
  readonly requests: SavedRequests;
  readonly failures: FailureCounts;
  readonly due: readonly Due[];
  readonly random: RandomState;
}

/** Each knows those before it, and none of those after it. */
export function engineParts(around: Surroundings, epochMs: number, saved?: SavedParts): EngineParts {
  const settings = planSettingsOf(around.state.settings, around.endpoint.id);
  const parameters = saved?.parameters ?? parametersIn(around);
  const site = new Site(around, epochMs);
  const stats = new PlanStats(parameters, settings, false, saved?.stats);
  const roster = new Roster(saved?.roster);
  const agenda = new Agenda(saved?.due);
  const fate = new Fate(saved?.random ?? settings.seed + 1);
  const requests = new Requests(saved?.requests);
  const asked = new AskedLoad(saved?.asked);
  const chronicle = new Chronicle(site);
  const lives = new Lives({ site, roster, agenda, fate, chronicle });
  const heard = { site, settings, stats, roster, requests, asked, chronicle, lives };
  const group = new LivingGroup(heard, parameters, saved?.group);
  const failures = new Failures({ site, roster, requests, chronicle, group }, saved?.failures);
  return { site, settings, stats, roster, agenda, fate, requests, asked, lives, group, failures };
}

export function savedParts(parts: EngineParts): SavedParts {
  return {
    parameters: parts.group.parameters,
    group: parts.group.model.save(),
    stats: parts.stats.save(),
    roster: parts.roster.save(),
    asked: parts.asked.save(),
    requests: parts.requests.save(),
    failures: parts.failures.counts,
    due: parts.agenda.save(),
    random: parts.fate.save(),
  };
}
