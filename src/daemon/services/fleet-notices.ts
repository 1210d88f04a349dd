import type { Logger } from 'pino';
import type { FleetNotice } from '../../fleet/view.ts';
import { NewerFile } from '../../storage/database-file.ts';
import { troubleLevel } from '../../time/backoff.ts';

/** A line of the log is for people. */
const MOST_NAMES = 20;

type Kind = FleetNotice['kind'];
type Logged = { readonly [K in Kind]: (logger: Logger, notice: Extract<FleetNotice, { kind: K }>) => void };

export function fleetNoticesTo(logger: Logger): (notice: FleetNotice) => void {
  return (notice) => (LOGGED[notice.kind] as (logger: Logger, notice: FleetNotice) => void)(logger, notice);
}

const LOGGED: Logged = {
  'endpoints changed'(logger, { begun, left }) {
    const shown = { begun: begun.slice(0, MOST_NAMES), left: left.slice(0, MOST_NAMES) };
    logger.info({ ...shown, begunCount: begun.length, leftCount: left.length }, 'watched endpoints changed');
  },
  'endpoints not listed'(logger, { error, failures }) {
    const level = troubleLevel(failures, 'warn');
    logger[level]({ err: error, failures }, 'listing endpoints failed; retrying');
  },
  'endpoints listed again'(logger, { failures }) {
    logger.info({ failures }, 'the endpoints could be listed again');
  },
  'endpoints unknown'(logger, { names }) {
    logger.warn(
      { endpoints: names.slice(0, MOST_NAMES) },
      'no endpoint has this name of PILOTLIGHT_ENDPOINTS; watching begins when one appears',
    );
  },
  'look failed'(logger, { endpoint, error, failures }) {
    logger[troubleLevel(failures, 'warn')](
      { endpoint, err: error, failures },
      'the workers of an endpoint could not be looked at; that sample is missing',
    );
  },
  'look succeeded again'(logger, { endpoint, failures }) {
    logger.info({ endpoint, failures }, 'the workers of an endpoint could be looked at again');
  },
  'trouble begun'(logger, { endpoint, trouble, severity, evidence: { says, facts } }) {
    const level = severity === 'critical' ? 'error' : 'warn';
    logger[level]({ endpoint, trouble, says, ...facts }, 'endpoint trouble began');
  },
  'trouble ended'(logger, { endpoint, trouble, seconds }) {
    logger.info({ endpoint, trouble, seconds }, 'endpoint trouble ended');
  },
  'history not stored'(logger, { error }) {
    logger.error(
      { err: error },
      error instanceof NewerFile
        ? 'the history of endpoints is of a newer Pilotlight: its file is left as it is, and memory holds the last day'
        : 'the history of endpoints cannot be stored; memory holds the last day, and storing is retried',
    );
  },
  'history stored again'(logger) {
    logger.info('the history of endpoints can be stored again');
  },
  'history set aside'(logger, { error, path }) {
    logger.error(
      { err: error, setAside: path },
      'the history of endpoints could not be read: its file was renamed, and a new one begins',
    );
  },
  'spend not told'(logger, { permission, isMissing, cause }) {
    logger.warn(
      { permission, err: cause },
      isMissing
        ? 'the key may not ask what endpoints cost: it lacks a permission; figures of another source stand in'
        : 'the service does not say what endpoints cost; figures of another source stand in',
    );
  },
};
