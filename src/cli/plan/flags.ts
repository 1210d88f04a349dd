/** The flags of `plan`, and what they say. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  GENERATOR_DEFAULTS,
  LOAD_SHAPES,
  type LoadShape,
  REQUEST_SIZES,
  type RequestSizes,
} from '../../scaling/planner/load.ts';
import {
  planSettings,
  SETTING_DEFAULTS,
  SETTING_OPTIONS,
  type Performance,
  type PlanSetting,
  type PlanSettings,
  type SettingOption,
} from '../../scaling/planner/settings.ts';
import {
  aboveZero,
  atLeastOne,
  atLeastZero,
  daemonUrlOption,
  positiveInteger,
  seconds,
  someSeconds,
  type DaemonFlags,
} from '../flag-types.ts';
import { TIME_UNITS, zoneOffset, type TraceOptions, type ZoneOffset } from './columns.ts';

export interface PlanFlags extends TraceOptions, DaemonFlags {
  readonly trace?: string;
  readonly load?: LoadShape;
  readonly rate?: number;
  readonly duration?: number;
  readonly sizes?: RequestSizes;
  readonly peakRatio?: number;
  readonly period?: number;
  readonly burstRatio?: number;
  readonly burstEvery?: number;
  readonly burstLength?: number;
  readonly seeds?: number;
  readonly param?: ReadonlyMap<string, string>;
  readonly params?: string;
  readonly group?: string;
  readonly compare?: readonly string[];
  readonly endpoint?: string;
  readonly alwaysOn?: number;
  readonly search?: true;
  readonly p99?: number;
  readonly sensitivity: boolean;
  readonly json?: true;
  readonly html?: string;
}

const SETTINGS = Object.keys(SETTING_OPTIONS) as PlanSetting[];
const PLACEHOLDERS: Readonly<Partial<Record<SettingOption['kind'], string>>> = {
  seconds: 'time',
  performance: 'units/s',
  choice: 'how',
};

const HEADINGS: Readonly<Partial<Record<PlanSetting, string>>> = {
  performance: 'Your workers:',
  controlSeconds: 'How the service is assumed to behave:',
  initialWorkers: 'The simulation:',
};

/** The help begins with the flags of a first plan. */
export function addPlanFlags(command: Command): Command {
  const compare = new Option('--compare <files...>', 'several sets side by side, each a JSON file');
  const searched = 'try target_util, cold_mult, cold_workers and min_load for cost against waiting';
  const search = new Option('--search', searched);
  command
    .optionsGroup('To begin with:')
    .option(
      '--trace <file>',
      'your requests, one a line: CSV or JSON, perhaps packed (.gz); - is standard input',
    )
    .addOption(settingOption('performance'))
    .option('--params <file>', 'JSON file with an object of parameters, or an array of groups')
    .addOption(compare.conflicts(['params', 'group']))
    .addOption(search.conflicts(['compare', 'alwaysOn']));
  addTraceFlags(command.optionsGroup('Your requests:'));
  addLoadFlags(command.optionsGroup('A made-up load, instead of --trace:'));
  addParameterFlags(command.optionsGroup('Parameters:'));
  for (const key of SETTINGS) {
    const heading = HEADINGS[key];
    if (heading) command.optionsGroup(heading);
    if (key !== 'performance') command.addOption(settingOption(key));
  }
  return command
    .optionsGroup('Output:')
    .option(
      '--no-sensitivity',
      'skip the sensitivity analysis: 14 plans more, which say what it hangs on most',
    )
    .option('--json', 'everything as JSON')
    .option('--html <file>', 'one self-contained page with the plots');
}

function addTraceFlags(command: Command): void {
  command
    .option('--time-column <name>', 'its column with the time; found by its name where that is usual')
    .addOption(
      new Option(
        '--time-unit <unit>',
        'unit of times that are plain numbers, if neither the name (_ms) nor an epoch time tells it',
      ).choices(Object.keys(TIME_UNITS)),
    )
    .option(
      '--time-zone <zone>',
      'time zone of dates without an offset, such as Europe/Berlin or +02:00 (UTC)',
      timeZone,
    )
    .option(
      '--weight <column=units>',
      'units of work of a request for each unit of this column (may be repeated)',
      collect(atLeastZero),
    )
    .option(
      '--request-work <units>',
      `units of work of a request (made-up loads: mean; ${GENERATOR_DEFAULTS.unitsPerRequest})`,
      aboveZero,
    );
}

function addLoadFlags(command: Command): void {
  const { sizes, peakRatio, burstRatio } = GENERATOR_DEFAULTS;
  command
    .addOption(new Option('--load <shape>', 'instead of a trace a made-up load').choices(LOAD_SHAPES))
    .option('--rate <units>', 'mean load, in units of work a second', aboveZero)
    .option('--duration <time>', 'how long it lasts (1h)', someSeconds)
    .addOption(new Option('--sizes <how>', `sizes of its requests (${sizes})`).choices(REQUEST_SIZES))
    .option('--peak-ratio <n>', `diurnal: highest rate over lowest (${peakRatio})`, atLeastOne)
    .option(
      '--period <time>',
      'diurnal: from one low to the next (24h, or the duration when that is shorter)',
      someSeconds,
    )
    .option('--burst-ratio <n>', `bursts: rate in a burst over the rate outside (${burstRatio})`, atLeastOne)
    .option('--burst-every <time>', 'bursts: mean time between them (10m)', someSeconds)
    .option('--burst-length <time>', 'bursts: how long each lasts (60s)', someSeconds)
    .option(
      '--seeds <n>',
      'made-up loads: how many to plan for; the table shows the first, and the intervals of all (5)',
      positiveInteger,
    );
}

function addParameterFlags(command: Command): void {
  const asText = collect((text) => text);
  const endpoint = new Option(
    '--endpoint <name>',
    'parameters, performance, start times and prices from a running daemon; flags override them',
  );
  command
    .addOption(endpoint.conflicts(['params', 'group']))
    .addOption(daemonUrlOption())
    .option('--param <name=value>', 'one parameter (may be repeated)', asText)
    .option('--group <name>', 'which of several groups in the file or in PILOTLIGHT_ENDPOINT_GROUPS')
    .option('--always-on <n>', 'compare with this many rented machines that never stop', positiveInteger)
    .option(
      '--p99 <time>',
      'search: the cheapest set with which 99% of the requests wait at most this long',
      seconds,
    );
}

/** The planner's table of settings has the flag's name, text and default. */
function settingOption(key: PlanSetting): Option {
  const setting: SettingOption = SETTING_OPTIONS[key];
  const byDefault = key in SETTING_DEFAULTS ? ` (default: ${settingValue(key, planSettings())})` : '';
  const option = new Option(
    `--${setting.flag} <${PLACEHOLDERS[setting.kind] ?? 'n'}>`,
    setting.doc + byDefault,
  );
  return setting.choices
    ? option.choices(setting.choices)
    : option.argParser((text) => parseSetting(setting, text));
}

export function settingValue(key: PlanSetting, settings: PlanSettings): string {
  const { kind }: SettingOption = SETTING_OPTIONS[key];
  const value = settings[key];
  if (typeof value === 'object') {
    return value.least === value.most ? String(value.least) : `${value.least}..${value.most}`;
  }
  if (value === Infinity) return 'never';
  return kind === 'seconds' ? `${value}s` : String(value);
}

export function givenSettings(flags: Readonly<Record<string, unknown>>): Partial<PlanSettings> {
  return Object.fromEntries(
    SETTINGS.flatMap((key) => {
      const value = flags[settingOption(key).attributeName()];
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

function parseSetting({ kind, never }: SettingOption, text: string): number | string | Performance {
  if (kind === 'performance') {
    const [least, most = least, ...more] = text.split('..').map((part) => atLeastZero(part));
    if (more.length > 0) throw new InvalidArgumentError('one number, or two such as 80..120.');
    return { least: least as number, most: most as number };
  }
  if (never && text === 'never') return Infinity;
  if (kind === 'workers' && text === 'floor') return text;
  return kind === 'seconds' ? seconds(text) : atLeastZero(text);
}

function timeZone(text: string): ZoneOffset {
  try {
    return zoneOffset(text);
  } catch {
    throw new InvalidArgumentError('a time zone is Europe/Berlin, UTC or +02:00.');
  }
}

function collect<T>(parse: (text: string) => T) {
  return (text: string, before: ReadonlyMap<string, T> = new Map()): ReadonlyMap<string, T> => {
    const at = text.indexOf('=');
    if (at < 1) throw new InvalidArgumentError('write it as name=value.');
    return new Map([...before, [text.slice(0, at), parse(text.slice(at + 1))]]);
  };
}
