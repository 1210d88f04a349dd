/** What the watch of endpoints says in the daemon's own log. */
import type { Logger } from 'pino';
import type { FleetNotice } from '../../fleet/notices.ts';
import { NewerFile } from '../../storage/database-file.ts';
import { troubleLevel } from '../../time/trouble.ts';

/** Of a list: a line of the log is for people. */
const MOST_NAMES = 20;

export function fleetNoticesTo(logger: Logger): (notice: FleetNotice) => void {
  return (notice) => {
    switch (notice.kind) {
      case 'endpoints changed': {
        const { begun, left } = notice;
        const shown = { begun: begun.slice(0, MOST_NAMES), left: left.slice(0, MOST_NAMES) };
        logger.info(
          { ...shown, begunCount: begun.length, leftCount: left.length },
          'watched endpoints changed',
        );
        return;
      }
      case 'endpoints not listed': {
        const { error, failures } = notice;
        logger[troubleLevel(failures, 'warn')](
          { err: error, failures },
          'the endpoints could not be listed; it is tried again',
        );
        return;
      }
      case 'endpoints listed again':
        logger.info({ failures: notice.failures }, 'the endpoints could be listed again');
        return;
      case 'endpoints unknown':
        logger.warn(
          { endpoints: notice.names.slice(0, MOST_NAMES) },
          'PILOTLIGHT_ENDPOINTS names what no endpoint is called; it is watched as soon as there is one',
        );
        return;
      case 'look failed': {
        const { endpoint, error, failures } = notice;
        logger[troubleLevel(failures, 'warn')](
          { endpoint, err: error, failures },
          'the workers of an endpoint could not be looked at; that sample is missing',
        );
        return;
      }
      case 'look succeeded again': {
        const { endpoint, failures } = notice;
        logger.info({ endpoint, failures }, 'the workers of an endpoint could be looked at again');
        return;
      }
      case 'history not stored': {
        const { error } = notice;
        logger.error(
          { err: error },
          error instanceof NewerFile
            ? 'the history of endpoints is of a newer Pilotlight: its file is left as it is, and memory holds the last day'
            : 'the history of endpoints cannot be stored; memory holds the last day, and storing is retried',
        );
        return;
      }
      case 'history stored again':
        logger.info('the history of endpoints can be stored again');
        return;
      case 'history set aside':
        logger.error(
          { err: notice.error, setAside: notice.path },
          'the history of endpoints could not be read: its file was renamed, and a new one begins',
        );
        return;
      case 'change left':
        logger.warn(
          { ...notice.change },
          notice.change.oldValues === null
            ? 'an earlier version may have changed parameters of an endpoint, and what it stored cannot be read: compare them with what they should be'
            : 'an earlier version was changing parameters of an endpoint; this version does not watch the change: to undo it, set the old values by hand',
        );
    }
  };
}
