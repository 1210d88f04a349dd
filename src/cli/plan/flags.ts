/** The flags of `plan`, and what they say. What has a default in a table of the planner has its flag from there. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { parseDuration } from '../../config/types/value-types.ts';
import { GENERATOR_DEFAULTS, LOAD_SHAPES, type LoadShape } from '../../scaling/planner/load/generators.ts';
import {
  planSettings,
  SETTING_DEFAULTS,
  SETTING_OPTIONS,
  type Performance,
  type PlanSetting,
  type PlanSettings,
  type SettingOption,
} from '../../scaling/planner/settings.ts';
import { settingValue } from './format.ts';
import { TIME_UNITS, type TimeUnit } from './trace/time.ts';

export interface PlanFlags {
  readonly trace?: string;
  readonly timeColumn?: string;
  readonly timeUnit: TimeUnit;
  readonly weight?: ReadonlyMap<string, number>;
  readonly load?: LoadShape;
  readonly rate?: number;
  readonly requestWork?: number;
  readonly duration?: number;
  readonly sizes?: 'exponential' | 'fixed';
  readonly peakRatio?: number;
  readonly period?: number;
  readonly burstRatio?: number;
  readonly burstEvery?: number;
  readonly burstLength?: number;
  readonly scale: number;
  readonly scaleBy: 'requests' | 'work';
  readonly param?: ReadonlyMap<string, string>;
  readonly params?: string;
  readonly group?: string;
  readonly compare?: readonly string[];
  readonly search?: true;
  readonly p99?: number;
  readonly json?: true;
  readonly html?: string;
}

const LOAD = 'Load:';
const PARAMETERS = 'Parameters:';
const OUTPUT = 'Output:';
const GROUPS = {
  workers: 'Your workers:',
  service: 'How the service is assumed to behave:',
  simulation: 'The simulation:',
} as const;

type Parse = (text: string, before?: never) => unknown;

export function addPlanFlags(command: Command): Command {
  // Given to the command only once all is said: it reads an option's default when it gets it.
  const options: Option[] = [];
  const option = (group: string, flags: string, doc: string, parse?: Parse) => {
    const added = new Option(flags, doc).helpGroup(group);
    options.push(parse ? added.argParser(parse as (text: string, before: unknown) => unknown) : added);
    return added;
  };
  option(LOAD, '--trace <file>', 'CSV of requests, one a line, in order of time; - is standard input');
  option(LOAD, '--time-column <name>', 'its column with the time; found by its name where that is usual');
  option(LOAD, '--time-unit <unit>', 'unit of times that are plain numbers')
    .choices(Object.keys(TIME_UNITS))
    .default('s');
  option(
    LOAD,
    '--weight <column=units>',
    'a request has so many units of work for each of the column; repeat it for several columns',
    collect(parseNumber),
  );
  option(
    LOAD,
    '--request-work <units>',
    `units of work of a request (made-up loads: mean; ${GENERATOR_DEFAULTS.unitsPerRequest})`,
    positive,
  );
  option(LOAD, '--load <shape>', 'instead of a trace a made-up load').choices(LOAD_SHAPES);
  option(LOAD, '--rate <units>', 'its mean, in units of work a second', positive);
  option(LOAD, '--duration <time>', 'how long it lasts (1h)', duration);
  option(LOAD, '--sizes <how>', `sizes of its requests (${GENERATOR_DEFAULTS.sizes})`).choices([
    'exponential',
    'fixed',
  ]);
  option(
    LOAD,
    '--peak-ratio <n>',
    `diurnal: highest rate over lowest (${GENERATOR_DEFAULTS.peakRatio})`,
    positive,
  );
  option(
    LOAD,
    '--period <time>',
    'diurnal: from one low to the next (24h, or the duration when that is shorter)',
    duration,
  );
  option(
    LOAD,
    '--burst-ratio <n>',
    `bursts: rate in a burst over the rate outside (${GENERATOR_DEFAULTS.burstRatio})`,
    positive,
  );
  option(LOAD, '--burst-every <time>', 'bursts: mean time between them (10m)', duration);
  option(LOAD, '--burst-length <time>', 'bursts: how long each lasts (60s)', duration);
  option(LOAD, '--scale <factor>', 'the load so many times over', positive).default(1);
  option(LOAD, '--scale-by <what>', 'repeat or leave out requests, or make each larger or smaller')
    .choices(['requests', 'work'])
    .default('requests');

  option(
    PARAMETERS,
    '--param <name=value>',
    'one parameter; repeat it for several',
    collect((text) => text),
  );
  option(PARAMETERS, '--params <file>', 'JSON file with an object of parameters, or an array of groups');
  option(
    PARAMETERS,
    '--group <name>',
    'which of several groups in the file or in PILOTLIGHT_ENDPOINT_GROUPS',
  );
  option(PARAMETERS, '--compare <files...>', 'several sets side by side, each a JSON file');
  option(
    PARAMETERS,
    '--search',
    'try target_util, cold_mult, cold_workers and min_load for cost against waiting',
  );
  option(
    PARAMETERS,
    '--p99 <time>',
    'search: the cheapest set with which 99% of the requests wait at most this long',
    duration,
  );

  const defaults = planSettings();
  for (const key of Object.keys(SETTING_OPTIONS) as PlanSetting[]) {
    const setting: SettingOption = SETTING_OPTIONS[key];
    const byDefault = key in SETTING_DEFAULTS ? ` (default: ${settingValue(key, defaults)})` : '';
    const added = option(
      GROUPS[setting.about],
      `--${setting.flag} <${placeholder(setting)}>`,
      setting.doc + byDefault,
    );
    if (setting.choices) added.choices(setting.choices);
    else added.argParser((text) => parseSetting(setting, text));
  }

  option(OUTPUT, '--json', 'everything as JSON');
  option(OUTPUT, '--html <file>', 'one self-contained page with the plots');
  for (const each of options) command.addOption(each);
  return command;
}

/** The settings that were given, by their flags. */
export function givenSettings(flags: Readonly<Record<string, unknown>>): Partial<PlanSettings> {
  return Object.fromEntries(
    (Object.keys(SETTING_OPTIONS) as PlanSetting[]).flatMap((key) => {
      const { flag } = SETTING_OPTIONS[key];
      const value = flags[flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

function placeholder({ kind }: SettingOption): string {
  return { seconds: 'time', number: 'n', count: 'n', performance: 'units/s', choice: 'how', workers: 'n' }[
    kind
  ];
}

function parseSetting({ kind, never }: SettingOption, text: string): number | string | Performance {
  if (kind === 'performance') {
    const [least, most = least] = text.split('..').map((part) => parseNumber(part));
    return { least: least as number, most: most as number };
  }
  if (never && text === 'never') return Infinity;
  if (kind === 'workers' && text === 'floor') return text;
  return kind === 'seconds' ? duration(text) : parseNumber(text);
}

/** Seconds of `500ms`, `20s`, `5m`, `1h`. */
function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('a duration is 500ms, 20s, 5m or 1h.');
  return ms / 1000;
}

function parseNumber(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value) || value < 0) throw new InvalidArgumentError('a number of at least 0.');
  return value;
}

function positive(text: string): number {
  const value = parseNumber(text);
  if (value === 0) throw new InvalidArgumentError('a number above 0.');
  return value;
}

/** `name=value`, repeatable: commander hands over what came before. */
function collect<T>(parse: (text: string) => T) {
  return (text: string, before: ReadonlyMap<string, T> = new Map()): ReadonlyMap<string, T> => {
    const at = text.indexOf('=');
    if (at < 1) throw new InvalidArgumentError('write it as name=value.');
    return new Map([...before, [text.slice(0, at), parse(text.slice(at + 1))]]);
  };
}
