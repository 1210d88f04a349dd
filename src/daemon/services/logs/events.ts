import type { Logger } from 'pino';
import { PilotlightError } from '../../../contract/pilotlight-error.ts';
import type { LogEvent } from '../../../logs/events.ts';
import type { LogSource } from '../../../logs/record.ts';
import { NewerFile } from '../../../storage/database-file.ts';
import { troubleLevel } from '../../../time/backoff.ts';

/** Records dropped after such a pause are a new trouble. */
const QUIET_MS = 600_000;
/** A line of the log is for people. */
const MOST_SHOWN = 20;
/** After some minutes of failed polls, lines may be lost. */
const LASTING_FAILURES = 16;

interface Drops {
  readonly times: number;
  readonly records: number;
  /** Monotonic ms. */
  readonly at: number;
}

type Kind = LogEvent['kind'];
type Event<K extends Kind> = Extract<LogEvent, { kind: K }>;
type Logged = { readonly [K in Kind]?: (logger: Logger, event: Event<K>) => void };

export function logEventsTo(logger: Logger, now: () => number): (event: LogEvent) => void {
  const drops = new Map<string, Drops>();
  return (event) => {
    if (event.kind !== 'dropped') {
      (LOGGED[event.kind] as ((logger: Logger, event: LogEvent) => void) | undefined)?.(logger, event);
      return;
    }
    const { sink, reason, message } = event;
    const key = `${sink} ${reason}`;
    const before = drops.get(key);
    const isNew = before === undefined || now() - before.at > QUIET_MS;
    const times = isNew ? 1 : before.times + 1;
    const records = (isNew ? 0 : before.records) + event.records;
    const level = troubleLevel(times, 'error');
    drops.set(key, { times, records: level === 'debug' ? records : 0, at: now() });
    logger[level]({ sink, records, reason, message, times }, 'log records dropped');
  };
}

function named(source: LogSource): { workergroupId: number } | { endpoint: string } {
  return source.kind === 'workergroup' ? { workergroupId: source.id } : { endpoint: source.name };
}

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
const LOGGED: Logged = {
  'poll failed'(logger, { source, reason, failures, retryInMs }) {
    const fields = { ...named(source), reason, failures, retryInSeconds: Math.round(retryInMs / 100) / 10 };
    logger[troubleLevel(failures, 'warn')](
      fields,
      failures < LASTING_FAILURES
        ? 'log poll failed; nothing is lost yet'
        : 'log polls still fail; once more came than the service shows, lines are lost',
    );
  },
  'poll recovered'(logger, { source, failures }) {
    logger[failures < LASTING_FAILURES ? 'debug' : 'info'](
      { ...named(source), failures },
      'log is read again',
    );
  },
  'sink recovered'(logger, { sink, failures }) {
    logger.info({ sink, failures }, 'log sink takes records again');
  },
  gap(logger, { source, reason, lostMin, lostEstimate }) {
    logger.warn({ ...named(source), reason, lostMin, lostEstimate }, 'gap in the log');
  },
  'sink failed'(logger, { sink, error, failures, retryInMs }) {
    const level = error instanceof PilotlightError && error.actor === 'user' ? 'error' : 'warn';
    const fields = { sink, err: error, failures, retryInMs };
    logger[troubleLevel(failures, level)](fields, 'log sink failed; its records wait in the spool');
  },
  'logs changed'(logger, { of, begun, left }) {
    const idsOf = (sources: readonly LogSource[]): unknown[] =>
      sources.slice(0, MOST_SHOWN).flatMap((source) => Object.values(named(source)));
    const shown = { begun: idsOf(begun), left: idsOf(left) };
    logger.info({ ...shown, begunCount: begun.length, leftCount: left.length }, WORDS[of].changed);
  },
  'logs not listed'(logger, { of, error, failures }) {
    logger[troubleLevel(failures, 'warn')]({ err: error, failures }, WORDS[of].notListed);
  },
  'logs listed again'(logger, { of, failures }) {
    logger.info({ failures }, WORDS[of].listedAgain);
  },
  'endpoints missing'(logger, { of, names }) {
    logger.warn({ endpoints: names }, WORDS[of].missing);
  },
  'spool failed'(logger, { error }) {
    logger.error({ err: error }, 'the log spool could not store lines; they are taken again');
  },
  'spool in memory'(logger, { error }) {
    logger.error(
      { err: error },
      'PILOTLIGHT_STATE_DIR cannot be used: log records are kept in memory; retrying',
    );
  },
  'spool on disk again'(logger) {
    logger.info('PILOTLIGHT_STATE_DIR can be used again: log records are kept on disk');
  },
  'spool set aside'(logger, { error, path }) {
    logger.error(
      { err: error, setAside: path },
      error instanceof NewerFile
        ? 'the log spool is of a newer Pilotlight: it is whole, and set aside until that runs again; a new epoch begins'
        : 'the log spool was unreadable and set aside; a new epoch begins',
    );
  },
  'stale answer'(logger, { source }) {
    logger.debug(named(source), 'log answer older than the one before it');
  },
};
