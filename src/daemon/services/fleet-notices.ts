/** What the watch of endpoints says in the daemon's own log. */
import type { Logger } from 'pino';
import type { FleetNotice } from '../../fleet/notices.ts';
import type { SteeringNotice } from '../../fleet/steering/port.ts';
import type { Change } from '../../scaling/autotune/state.ts';
import { storyOf, type Story } from '../../scaling/autotune/story.ts';
import { NewerFile } from '../../storage/database-file.ts';

/** Of a list: a line of the log is for people. */
const MOST_NAMES = 20;

/** A trouble is logged when it begins, and at level debug while it lasts. */
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
        logger[failures === 1 ? 'warn' : 'debug'](
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
      case 'bounds unwatched': {
        const [endpoints, watched] = [notice.names, notice.watched].map((all) => all.slice(0, MOST_NAMES));
        logger.warn(
          { endpoints, watched },
          'PILOTLIGHT_AUTOTUNE_BOUNDS names endpoints that are not watched: nothing of them is changed',
        );
        return;
      }
      case 'look failed': {
        const { endpoint, error, failures } = notice;
        logger[failures === 1 ? 'warn' : 'debug'](
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
            ? 'the history of endpoints is of a newer Pilotlight: it is left as it is, and nothing is added to it'
            : 'the history of endpoints cannot be stored; the last minutes of it are held, and it is tried again',
        );
        return;
      }
      case 'history stored again':
        logger.info('the history of endpoints can be stored again');
        return;
      default:
        saySteering(logger, notice);
    }
  };
}

/** Each change is told with its whole story: whoever pays for it may read nothing else. */
function saySteering(logger: Logger, notice: SteeringNotice): void {
  const { endpoint } = notice;
  switch (notice.kind) {
    case 'parameters steered':
      logger.info({ endpoint, ...saidOf(notice.change) }, 'parameters of an endpoint are being changed');
      return;
    case 'old values go back':
      logger.warn(
        { endpoint, ...saidOf(notice.change) },
        'a change of parameters is taken back: its old values are being sent',
      );
      return;
    case 'old values refused':
      logger.error(
        { endpoint, ...saidOf(notice.change) },
        'the service does not take the old values of a change that is taken back; they are sent each minute',
      );
      return;
    case 'change unwatched':
      logger.warn(
        { endpoint, ...saidOf(notice.change) },
        'a change of parameters is in force and not watched any more: put its old values back by hand, or let it be watched again',
      );
      return;
    case 'steering ended':
      logger[notice.outcome === 'kept' ? 'info' : 'warn'](
        { endpoint, outcome: notice.outcome, ...saidOf(notice.change) },
        'a change of parameters is over',
      );
      return;
    case 'changed by hand':
      logger.info(
        { endpoint },
        'somebody changed parameters of an endpoint: they stay, and nothing is changed for a day',
      );
      return;
    case 'steering failed':
      logger.warn({ endpoint, err: notice.error }, 'an endpoint could not be steered; it is tried again');
  }
}

function saidOf(change: Change): Omit<Story, 'atMs'> & { readonly change: number } {
  const { what, why, expected, came } = storyOf(change);
  return { change: change.id, what, why, expected, came };
}
