/** What the logs and the watch of endpoints report, as lines of the daemon's log. */
import type { Logger } from 'pino';
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import type { FleetNotice } from '../../fleet/view.ts';
import type { LogEvent } from '../../logs/events.ts';
import type { LogSource } from '../../logs/record.ts';
import { NewerFile } from '../../storage/database-file.ts';
import { troubleLevel } from '../../time/repeating.ts';

/** Records dropped after such a pause are a new trouble. */
const QUIET_MS = 600_000;
const MOST_SHOWN = 20;
/** After some minutes of failed polls, lines may be lost. */
const LASTING_FAILURES = 16;

type Notice = LogEvent | FleetNotice;
type Kind = Notice['kind'];
/** Without fields, the line has those of the notice. */
type Line = readonly [level: 'debug' | 'info' | 'warn' | 'error', message: string, fields?: object];
type Dropped = Extract<LogEvent, { kind: 'dropped' }>;

export function noticesTo(logger: Logger, now: () => number): (notice: Notice) => void {
  const drops = new Map<string, { readonly times: number; readonly records: number; readonly at: number }>();

  /** Counts those that were not told. */
  function droppedLine({ sink, reason, message, records: more }: Dropped): Line {
    const key = `${sink} ${reason}`;
    const before = drops.get(key);
    const isNew = before === undefined || now() - before.at > QUIET_MS;
    const times = isNew ? 1 : before.times + 1;
    const records = (isNew ? 0 : before.records) + more;
    const level = troubleLevel(times, 'error');
    drops.set(key, { times, records: level === 'debug' ? records : 0, at: now() });
    return [level, 'log records dropped', { sink, records, reason, message, times }];
  }

  return (notice) => {
    const lineOf = LINES[notice.kind] as ((notice: Notice) => Line) | undefined;
    const line = notice.kind === 'dropped' ? droppedLine(notice) : lineOf?.(notice);
    if (line === undefined) return;
    const [level, message, fields = fieldsOf(notice)] = line;
    logger[level](fields, message);
  };
}

function named(source: LogSource): { workergroupId: number } | { endpoint: string } {
  return source.kind === 'workergroup' ? { workergroupId: source.id } : { endpoint: source.name };
}

function shown(names: readonly (string | LogSource)[]): unknown[] {
  return names
    .slice(0, MOST_SHOWN)
    .flatMap((name) => (typeof name === 'string' ? name : Object.values(named(name))));
}

function fieldsOf(notice: Notice): object {
  const { kind: _, ...facts } = notice;
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(facts)) {
    if (name === 'source') Object.assign(fields, named(value as LogSource));
    else if (name === 'names') fields['endpoints'] = shown(value as readonly string[]);
    else if (name === 'begun' || name === 'left') {
      const all = value as readonly (string | LogSource)[];
      fields[name] = shown(all);
      fields[`${name}Count`] = all.length;
    } else if (name !== 'of') fields[SHOWN_AS[name] ?? name] = value;
  }
  return fields;
}

const SHOWN_AS: Readonly<Record<string, string>> = { error: 'err', path: 'setAside' };

const WORDS = {
  workergroup: {
    changed: 'followed worker groups changed',
    notListed: 'the worker groups of WORKER_GROUPS could not be looked up; retrying',
    listedAgain: 'worker groups are looked up again',
    missing: 'no worker group serves these endpoints of WORKER_GROUPS',
  },
  endpoint: {
    changed: 'followed endpoint logs changed',
    notListed: 'the endpoints of ENDPOINT_LOGS could not be looked up; retrying',
    listedAgain: 'endpoints are looked up again',
    missing: 'no endpoint has these names of ENDPOINT_LOGS; looking again every minute',
  },
} as const;

/** Other kinds are counted, and not logged. */
const LINES: { readonly [K in Kind]?: (notice: Extract<Notice, { kind: K }>) => Line } = {
  'poll failed': ({ source, reason, failures, retryInMs }) => [
    troubleLevel(failures, 'warn'),
    failures < LASTING_FAILURES
      ? 'log poll failed; nothing is lost yet'
      : 'log polls still fail; lines are lost once the log has grown by more than the service shows',
    { ...named(source), reason, failures, retryInSeconds: Math.round(retryInMs / 100) / 10 },
  ],
  'poll recovered': ({ failures }) => [failures < LASTING_FAILURES ? 'debug' : 'info', 'log is read again'],
  'stale answer': () => ['debug', 'log answer older than the one before it'],
  gap: () => ['warn', 'gap in the log'],
  'sink failed': ({ error, failures }) => [
    troubleLevel(failures, error instanceof PilotlightError && error.actor === 'user' ? 'error' : 'warn'),
    'log sink failed; its records wait in the spool',
  ],
  'sink recovered': () => ['info', 'log sink takes records again'],
  'logs changed': ({ of }) => ['info', WORDS[of].changed],
  'logs not listed': ({ of, failures }) => [troubleLevel(failures, 'warn'), WORDS[of].notListed],
  'logs listed again': ({ of }) => ['info', WORDS[of].listedAgain],
  'endpoints missing': ({ of }) => ['warn', WORDS[of].missing],
  'spool failed': () => ['error', 'the log spool could not store lines; they are taken again'],
  'spool in memory': () => [
    'error',
    'PILOTLIGHT_STATE_DIR cannot be used: log records are kept in memory; retrying',
  ],
  'spool on disk again': () => [
    'info',
    'PILOTLIGHT_STATE_DIR can be used again: log records are kept on disk',
  ],
  'spool set aside': ({ error }) => [
    'error',
    error instanceof NewerFile
      ? 'the log spool is of a newer Pilotlight: it is whole, and set aside until that runs again; a new epoch begins'
      : 'the log spool was unreadable and set aside; a new epoch begins',
  ],
  'endpoints changed': () => ['info', 'watched endpoints changed'],
  'endpoints not listed': ({ failures }) => [
    troubleLevel(failures, 'warn'),
    'listing endpoints failed; retrying',
  ],
  'endpoints listed again': () => ['info', 'the endpoints could be listed again'],
  'endpoints unknown': () => [
    'warn',
    'no endpoint has this name of PILOTLIGHT_ENDPOINTS; watching begins when one appears',
  ],
  'look failed': ({ failures }) => [
    troubleLevel(failures, 'warn'),
    'the workers of an endpoint could not be looked at; that sample is missing',
  ],
  'look succeeded again': () => ['info', 'the workers of an endpoint could be looked at again'],
  'trouble begun': ({ endpoint, trouble, severity, evidence: { says, facts } }) => [
    severity === 'critical' ? 'error' : 'warn',
    'endpoint trouble began',
    { endpoint, trouble, says, ...facts },
  ],
  'trouble ended': () => ['info', 'endpoint trouble ended'],
  'history not stored': ({ error }) => [
    'error',
    error instanceof NewerFile
      ? 'the history of endpoints is of a newer Pilotlight: its file is left as it is, and no sample is stored'
      : 'the history of endpoints cannot be stored; samples are missing until it can; retrying',
  ],
  'history stored again': () => ['info', 'the history of endpoints can be stored again'],
  'history set aside': () => [
    'error',
    'the history of endpoints could not be read: its file was renamed, and a new one begins',
  ],
  'spend not told': ({ permission, isMissing, cause: err }) => [
    'warn',
    isMissing
      ? 'the key may not ask what endpoints cost: it lacks a permission; figures of another source stand in'
      : 'the service does not say what endpoints cost; figures of another source stand in',
    { permission, err },
  ],
};
