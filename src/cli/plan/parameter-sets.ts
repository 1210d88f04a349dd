/** The sets to plan for: from --compare, --params, --endpoint or the environment, with --param on top. */
import { describeProblem } from '../../config/problem.ts';
import { loadEndpointGroups } from '../../config/command-settings.ts';
import { coerceText } from '../../wire/coerce.ts';
import { checkEndpointGroup, checkEndpointGroups, schemaOf } from '../../scaling/rules/check.ts';
import {
  type Finding,
  gotInWords,
  type ResolvedParameters,
  type WorkerFacts,
} from '../../scaling/rules/rules.ts';
import type { PlanSettings } from '../../scaling/planner/settings.ts';
import { type Console, readGroupFile, InputError } from '../console.ts';
import { legibleLine } from '../text.ts';
import type { PlanFlags } from './flags.ts';
import type * as z from 'zod';
import { fleetHistorySchema } from '../../daemon/http/fleet.ts';
import { billingOf, phaseOf } from '../../fleet/workers/reports.ts';
import { DaemonAway, fetchJson, fetchStatus, fleetSchema, type DaemonAddress } from '../fleet/daemon.ts';
import { chosenEndpoints } from '../fleet/watch-fleet.ts';

export interface ParameterSet {
  readonly label: string;
  readonly parameters: ResolvedParameters;
  readonly findings: readonly Finding[];
  readonly settings?: Partial<PlanSettings>;
}

type Around = Pick<Console, 'environment' | 'read'>;

/** At least one. @throws InputError with the problems of all of them */
export async function parameterSets(
  flags: PlanFlags,
  settings: PlanSettings,
  around: Around,
  today?: EndpointToday,
): Promise<readonly ParameterSet[]> {
  const facts = factsOf(settings);
  const sets = (await sources(flags, around, today)).map(({ label, group }) => {
    const { parameters, findings } = checkEndpointGroup(withParams(group, flags.param), facts);
    return { label, parameters, findings };
  });
  const errors = sets.flatMap(({ label, findings }) =>
    findings.flatMap((finding) => {
      const { severity, parameter, allowed, message } = finding;
      const name = parameter === '' ? label : `${label}: ${parameter}`;
      const problem = `${name}: got ${gotInWords(finding)}; allowed: ${allowed}; ${message}`;
      return severity === 'error' ? [problem] : [];
    }),
  );
  if (errors.length > 0) throw new InputError(errors.join('\nerror: '));
  // Without errors there are parameters.
  const checked = sets as readonly ParameterSet[];
  const [first] = checked;
  if (!first || flags.alwaysOn === undefined) return checked;
  return [...checked, alwaysOn(first.parameters, flags.alwaysOn, settings)];
}

/** Machines that are rented for good: all hot from the start, and none more. */
function alwaysOn(base: ResolvedParameters, machines: number, { performance }: PlanSettings): ParameterSet {
  const parameters = {
    ...base,
    min_load: machines * performance.most * base.target_util,
    min_cold_load: 0,
    cold_mult: 1,
    cold_workers: machines,
    max_workers: machines,
    inactivity_timeout: undefined,
  };
  const settings = { initialWorkers: machines, scaleDownSeconds: Infinity, destroySeconds: Infinity };
  return { label: `${machines} always on`, parameters, findings: [], settings };
}

/** The check knows of the workers what the plan knows. */
export function factsOf({ performance, coldStartSeconds }: PlanSettings): WorkerFacts {
  return { workerPerformance: (performance.least + performance.most) / 2, coldStartSeconds };
}

type Source = Pick<ParameterSet, 'label'> & { readonly group: unknown };

async function sources(
  { compare, params, group }: PlanFlags,
  { environment, read }: Around,
  today: EndpointToday | undefined,
): Promise<readonly Source[]> {
  if (compare) {
    const files: Source[] = [];
    for (const path of compare) {
      const { groups, isArray } = await readGroupFile(path, read);
      files.push(...(isArray ? labelled(groups) : [{ label: shortName(path), group: groups[0] }]));
    }
    return today ? [today, ...files] : files;
  }
  if (today) return [today];
  if (params !== undefined)
    return [chosen((await readGroupFile(params, read)).groups, group, shortName(params))];
  const { groups, problems } = loadEndpointGroups(environment);
  const problem = problems[0];
  if (problem) throw new InputError(describeProblem(problem).replace(/^error: /, ''));
  if (groups !== undefined && groups.length > 0) return [chosen(groups, group, 'environment')];
  if (group !== undefined) throw new InputError(`--group ${group}: there are no groups to choose from`);
  return [{ label: 'parameters', group: {} }];
}

function chosen(groups: readonly unknown[], name: string | undefined, label: string): Source {
  const named = labelled(groups);
  const [only] = named;
  if (name === undefined && only && named.length === 1) {
    return { ...only, label: only.label.startsWith('#') ? label : only.label };
  }
  const found = named.find((source) => source.label === name);
  if (found) return found;
  const names = named.map((source) => source.label).join(', ');
  if (name === undefined) throw new InputError(`which group? Say --group NAME, one of ${names}`);
  throw new InputError(`no group ${name}; there are ${names}`);
}

function labelled(groups: readonly unknown[]): readonly Source[] {
  return checkEndpointGroups(groups).map(({ label }, index) => ({
    label: legibleLine(label),
    group: groups[index],
  }));
}

function shortName(path: string): string {
  return path.replace(/^.*\//, '').replace(/\.json$/, '');
}

function withParams(group: unknown, params: ReadonlyMap<string, string> = new Map()): unknown {
  if (params.size === 0 || typeof group !== 'object' || group === null) return group;
  const read = [...params].map(([name, text]) => {
    const schema = schemaOf(name);
    // Unknown names are left to the check.
    return [name, schema ? coerceText(schema, text) : text] as const;
  });
  return { ...group, ...Object.fromEntries(read) };
}

type EndpointToday = Awaited<ReturnType<typeof endpointToday>>;
type History = z.infer<typeof fleetHistorySchema>['endpoints'][number];

/** @throws InputError for an unknown endpoint, DaemonAway */
export async function endpointToday(name: string, daemon: DaemonAddress, signal: AbortSignal) {
  const status = await fetchStatus(daemon, fleetSchema, signal);
  const [endpoint] = chosenEndpoints(status, name);
  if (!endpoint || Object.keys(endpoint.parameters).length === 0)
    throw new InputError(`${name}: the daemon does not know its parameters yet`);
  const label = endpoint.endpoint_group;
  const path = `/api/fleet?format=json&from=-24h&endpoint=${encodeURIComponent(label)}`;
  const read = fleetHistorySchema.safeParse(await fetchJson(daemon, path, signal));
  if (!read.success)
    throw new DaemonAway(`${daemon.url}: its history cannot be read; is it of this version?`);
  const [history] = read.data.endpoints;
  return { label, group: endpoint.parameters, settings: history ? measuredSettings(history) : {} };
}

/** Flags and assumptions fill in what was not measured. */
function measuredSettings({ measured, rows }: History): Partial<PlanSettings> {
  const { performance, start_seconds: starts } = measured;
  const [startSeconds, coldStartSeconds] = [starts.new, starts.cold].map(median);
  const works = performance.filter((units) => units > 0);
  return {
    ...(works.length > 0 ? { performance: { least: Math.min(...works), most: Math.max(...works) } } : {}),
    ...(startSeconds !== undefined && { startSeconds }),
    ...(coldStartSeconds !== undefined && { coldStartSeconds }),
    ...pricesOf(rows),
  };
}

/** Least squares: spend = hot price × running + cold price × stopped workers. {}: not to be told apart. */
function pricesOf(rows: History['rows']): Partial<PlanSettings> {
  let [hotHot, hotCold, coldCold, hotSpend, coldSpend] = [0, 0, 0, 0, 0];
  for (const { spend_per_hour: spend, workers } of rows) {
    if (!spend) continue;
    const count = (takes: (status: string) => boolean) =>
      Object.entries(workers).reduce((sum, [status, { mean }]) => sum + (takes(status) ? mean : 0), 0);
    const hot = count((status) => billingOf(status) === 'compute');
    const cold = count((status) => billingOf(status) === 'storage' && phaseOf(status) === 'cold');
    hotHot += hot * hot;
    hotCold += hot * cold;
    coldCold += cold * cold;
    hotSpend += hot * spend.mean;
    coldSpend += cold * spend.mean;
  }
  if (coldCold === 0) return hotHot === 0 ? {} : { priceHot: roundedPrice(hotSpend / hotHot) };
  if (hotHot === 0) return { priceCold: roundedPrice(coldSpend / coldCold) };
  const determinant = hotHot * coldCold - hotCold ** 2;
  if (determinant < 1e-6 * hotHot * coldCold) return {};
  const priceHot = roundedPrice((hotSpend * coldCold - coldSpend * hotCold) / determinant);
  const priceCold = roundedPrice((coldSpend * hotHot - hotSpend * hotCold) / determinant);
  return priceHot > 0 ? { priceHot, priceCold: Math.max(0, priceCold) } : {};
}

function roundedPrice(price: number): number {
  return Number(price.toPrecision(6));
}

function median(values: readonly number[]): number | undefined {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}
