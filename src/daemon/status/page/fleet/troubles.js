// What needs a person about the endpoints.
import { findingsInWords, plural, printable, seconds, short } from '../status-words.js';

const STALE_AFTER_INTERVALS = 4;

/** Returns `[tone, text]` of each trouble. */
export function fleetTroubles({ fleet }, now) {
  const found = fleet.endpoints.flatMap((endpoint) =>
    endpointTroubles(endpoint, fleet, now).map(([tone, text]) => [
      tone,
      printable(`Endpoint ${endpoint.endpoint_group}${text}`),
    ]),
  );
  const spend = fleet.endpoints.reduce((sum, endpoint) => sum + (spendPerHour(endpoint) ?? 0), 0);
  if (fleet.budget_per_hour !== null && spend > fleet.budget_per_hour) {
    found.push([
      'warn',
      `The endpoints cost ${spend.toFixed(2)} an hour, above PILOTLIGHT_BUDGET_PER_HOUR (${fleet.budget_per_hour})`,
    ]);
  }
  if (isAboveBudget(fleet))
    found.push([
      'warn',
      `The endpoints come to ${(fleet.spend_month_forecast ?? fleet.spend_month.amount).toFixed(2)} this month, above PILOTLIGHT_BUDGET_PER_MONTH (${fleet.budget_per_month})`,
    ]);
  if (fleet.endpoints.length > 0 && fleet.history_trouble !== null)
    found.push(['warn', `What the endpoints do is not being recorded: ${printable(fleet.history_trouble)}`]);
  return found;
}

/** The text continues the endpoint's name. */
export function endpointTroubles(endpoint, { sample_interval_seconds: interval }, now) {
  const found = [];
  const age = endpoint.last_sample_at === null ? null : now - endpoint.last_sample_at;
  if (endpoint.last_error !== null) found.push(['warn', ` cannot be seen: ${endpoint.last_error}`]);
  else if (age !== null && age > STALE_AFTER_INTERVALS * interval)
    found.push(['warn', ` was last seen ${seconds(age)} ago`]);
  found.push(...demandTroubles(endpoint), ...namedTroubles(endpoint));
  if (endpoint.drift.length > 0) {
    const differences = endpoint.drift.map((drift) => driftInWords(drift)).join('; ');
    found.push(['warn', ` is not as configured: ${differences}`]);
  }
  const violations = findingsInWords(endpoint.findings);
  if (violations) {
    const isError = endpoint.findings.some(({ severity }) => severity === 'error');
    found.push([isError ? 'bad' : 'warn', `, as the service has it: ${violations}`]);
  }
  return found;
}

function demandTroubles(endpoint) {
  const { load_average: average, load: last, load_in_flight: inFlight } = endpoint;
  const { capacity_hot: ready, parameters } = endpoint;
  const { max_queue_time: mayWait } = parameters;
  const load = average ?? last;
  const most = atMaximum(endpoint, parameters);
  if ((load > 0 || inFlight > 0) && ready === 0) return [['bad', unserved(endpoint) + most]];
  if (ready === null) return [];
  if (load !== null && load > ready) {
    const words = ` is asked for more than its ready workers can do: ${short(load)} of ${short(ready)}`;
    return [['warn', words + most]];
  }
  if (!(inFlight > ready * mayWait)) return [];
  return [
    ['warn', ` has ${seconds(inFlight / ready)} of work in flight, and ${seconds(mayWait)} may wait${most}`],
  ];
}

export function namedTroubles({ troubles, failing_workers: failing, stuck_workers: stuck }) {
  const found = Object.values(troubles)
    .filter((trouble) => trouble !== null)
    .map(({ severity, says }) => [severity === 'critical' ? 'bad' : 'warn', ` ${says}`]);
  const err = failing === 1 ? 'errs' : 'err';
  if (failing > 0) found.push(['warn', `: ${plural(failing, 'worker')} ${err} again and again`]);
  const loading = `${stuck === 1 ? 'has' : 'have'} been loading far longer than the others`;
  if (stuck > 0) found.push(['warn', `: ${plural(stuck, 'worker')} ${loading}`]);
  return found;
}

// Statuses in which a worker takes requests.
const READY = ['idle', 'ready', 'running', 'update_ready'];

/** A ready worker may have a performance of 0. */
function unserved({ workers }) {
  const ready = READY.reduce((sum, status) => sum + (workers?.[status] ?? 0), 0);
  if (ready === 0) return ' has load and no ready worker';
  const words = ready === 1 ? 'its ready worker' : `its ${ready} ready workers`;
  return ` has load, and ${words} can do nothing (a performance of 0)`;
}

function atMaximum({ workers }, { max_workers: most }) {
  if (workers === null || most === undefined) return '';
  const { destroying: _, ...here } = workers;
  const count = Object.values(here).reduce((sum, each) => sum + each, 0);
  return count >= most ? `, and has its max_workers (${most})` : '';
}

export function driftInWords({ parameter, actual, wanted }) {
  return `${parameter} is ${actual ?? 'not set'}, not ${wanted}`;
}

export function endpointTone(endpoint, fleet, now) {
  const tones = endpointTroubles(endpoint, fleet, now).map(([tone]) => tone);
  return tones.includes('bad') ? 'bad' : tones.length > 0 ? 'warn' : 'good';
}

/** The service's own figure, if there is one. */
export function spendPerHour({ spend_told_per_hour: told, spend_per_hour: estimated }) {
  return told ?? estimated;
}

export function isAboveBudget({
  spend_month: month,
  spend_month_forecast: forecast,
  budget_per_month: budget,
}) {
  return budget !== null && (forecast ?? month?.amount ?? 0) > budget;
}
