/** What the log pipeline says in the daemon's own log. */
import type { Logger } from 'pino';
import { PilotlightError } from '../../../contract/pilotlight-error.ts';
import type { LogEvent } from '../../../logs/events.ts';
import { NewerFile } from '../../../storage/database-file.ts';

/** After so long without, records that are dropped are a new trouble, ms. */
const QUIET_MS = 600_000;
/** Of a list: a line of the log is for people. */
const MOST_IDS = 20;
/** Polls of a group that fail in a row, for some minutes: told of again, and after twice as many each time. */
const LASTING_FAILURES = 16;

/** What one sink dropped for one reason: told when it begins, and after twice as many times each time. */
interface Drops {
  readonly times: number;
  /** Since it was told of last. */
  readonly records: number;
  /** Of the last time, ms. */
  readonly at: number;
}

/** @param now Monotonic ms. */
export function logEventsTo(logger: Logger, now: () => number): (event: LogEvent) => void {
  const drops = new Map<string, Drops>();
  return (event) => {
    if (event.kind !== 'dropped') return logEvent(logger, event);
    const { sink, reason, message } = event;
    const key = `${sink} ${reason}`;
    const before = drops.get(key);
    const isNew = before === undefined || now() - before.at > QUIET_MS;
    const times = isNew ? 1 : before.times + 1;
    const records = (isNew ? 0 : before.records) + event.records;
    const isTold = isDoubling(times);
    drops.set(key, { times, records: isTold ? 0 : records, at: now() });
    logger[isTold ? 'error' : 'debug']({ sink, records, reason, message, times }, 'log records dropped');
  };
}

/** 1, 2, 4, 8, and so on. */
function isDoubling(times: number): boolean {
  return Number.isInteger(Math.log2(times));
}

/** A trouble is logged when it begins, and mostly at level debug while it lasts. */
function logEvent(logger: Logger, event: Exclude<LogEvent, { kind: 'dropped' }>): void {
  switch (event.kind) {
    case 'poll failed': {
      const { workergroupId, reason, failures, retryInMs } = event;
      const fields = { workergroupId, reason, failures, retryInSeconds: Math.round(retryInMs / 100) / 10 };
      if (failures < LASTING_FAILURES)
        logger[failures === 1 ? 'warn' : 'debug'](fields, 'log poll failed; nothing is lost yet');
      else
        logger[isDoubling(failures) ? 'warn' : 'debug'](
          fields,
          'log polls still fail; once more came than the service shows, lines are lost',
        );
      return;
    }
    case 'poll recovered': {
      const { workergroupId, failures } = event;
      logger[failures < LASTING_FAILURES ? 'debug' : 'info'](
        { workergroupId, failures },
        'log is read again',
      );
      return;
    }
    case 'sink recovered':
      logger.info({ sink: event.sink, failures: event.failures }, 'log sink takes records again');
      return;
    case 'gap': {
      const { workergroupId, reason, lostMin, lostEstimate } = event;
      logger.warn({ workergroupId, reason, lostMin, lostEstimate }, 'gap in the log');
      return;
    }
    case 'sink failed': {
      const { sink, error, failures, retryInMs } = event;
      // Repeated after twice as many failures each time: what only a person can fix must not be missed.
      const isTold = isDoubling(failures);
      const level = error instanceof PilotlightError && error.actor === 'user' ? 'error' : 'warn';
      const fields = { sink, err: error, failures, retryInMs };
      logger[isTold ? level : 'debug'](fields, 'log sink failed; its records wait in the spool');
      return;
    }
    case 'groups changed':
      logger.info(
        {
          begun: event.begun.slice(0, MOST_IDS),
          left: event.left.slice(0, MOST_IDS),
          begunCount: event.begun.length,
          leftCount: event.left.length,
        },
        'followed worker groups changed',
      );
      return;
    case 'groups not listed': {
      const { error, failures } = event;
      logger[failures === 1 ? 'warn' : 'debug'](
        { err: error, failures },
        'the worker groups that WORKER_GROUPS names could not be looked up; it is tried again',
      );
      return;
    }
    case 'groups listed again':
      logger.info({ failures: event.failures }, 'worker groups are looked up again');
      return;
    case 'endpoints unserved':
      logger.warn({ endpoints: event.names }, 'no worker group serves these endpoints of WORKER_GROUPS');
      return;
    case 'spool failed':
      logger.error({ err: event.error }, 'the log spool could not store lines; they are taken again');
      return;
    case 'spool in memory':
      logger.error(
        { err: event.error },
        'PILOTLIGHT_STATE_DIR cannot be used: log records are kept in memory, and it is tried again',
      );
      return;
    case 'spool on disk again':
      logger.info('PILOTLIGHT_STATE_DIR can be used again: log records are kept on disk');
      return;
    case 'spool set aside': {
      const fields = { err: event.error, setAside: event.path };
      logger.error(
        fields,
        event.error instanceof NewerFile
          ? 'the log spool is of a newer Pilotlight: it is whole, and set aside until that runs again; a new epoch begins'
          : 'the log spool was unreadable and set aside; a new epoch begins',
      );
      return;
    }
    case 'stale answer':
      logger.debug({ workergroupId: event.workergroupId }, 'log answer older than the one before it');
      return;
    case 'polled':
    case 'lines':
    case 'delivered':
      return;
  }
}
