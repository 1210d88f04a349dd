import {
  counted,
  deploymentName,
  findingsInWords,
  logName,
  plural,
  printable,
  seconds,
  short,
} from './status-words.js';

const TROUBLED = new Set(['urgent', 'lapsed', 'gone', 'unauthorized']);
/** A state that a newer heart has is none of them, and a warning. */
const FINE = new Set(['healthy', 'stopped', 'replaced']);
const IMMINENT_SECONDS = 6 * 3600;
/** Such a pause of all requests concerns a person. */
const LONG_PAUSE_SECONDS = 30;
const STRETCHED = 1.5;
/** What state and last failure do not say. */
const MEANWHILE = {
  starting: '; no heartbeat was accepted yet',
  gone: '; it is asked again at a slow pace, and at once at a reload',
  withheld: ': no heartbeat is sent, and it expires',
};

function rounded(value) {
  return Number(value.toPrecision(2));
}

export function deploymentTone({ state, reason }) {
  if (state === 'missing') return reason === null ? 'warn' : 'bad';
  return TROUBLED.has(state) ? 'bad' : FINE.has(state) ? 'good' : 'warn';
}

export function endpointGroupTone({ findings }) {
  const severities = new Set(findings.map(({ severity }) => severity));
  return severities.has('error') ? 'bad' : severities.has('warning') ? 'warn' : 'good';
}

export function isImminent(window, now) {
  return window.starts_at - now < IMMINENT_SECONDS;
}

/** Bad ones first. */
function allTroubles(status, now) {
  const found = [
    ...deploymentTroubles(status),
    ...missingTroubles(status),
    ...(status.app ? appTroubles(status.app) : []),
    ...configTroubles(status),
    ...serviceTroubles(status),
    ...logTroubles(status),
    ...watchTroubles(status, now),
    ...fleetTroubles(status, now),
  ];
  return found.sort(([one], [other]) => (one === other ? 0 : one === 'bad' ? -1 : 1));
}

function deploymentTroubles({ deployments }) {
  return deployments.flatMap((deployment) => {
    const tone = deploymentTone(deployment);
    if (tone === 'good') return [];
    const { state, last_error: error } = deployment;
    const why = error && state !== 'withheld' ? `: ${error}` : '';
    return [[tone, `Deployment ${deploymentName(deployment)} is ${state}${why}${MEANWHILE[state] ?? ''}`]];
  });
}

function missingTroubles({ missing_deployments: missing }) {
  return missing.map(({ deployment, reason }) => {
    const tone = deploymentTone({ state: 'missing', reason });
    const why = reason ?? 'the service was not asked yet';
    return [tone, printable(`Deployment ${deployment} gets no heartbeat: ${why}`)];
  });
}

function configTroubles(status) {
  return status.config_problems.map(({ severity, problem }) => {
    const isDefault = problem.includes('; using the default, ');
    const bad = isDefault ? 'A setting has its default' : 'A feature is off';
    const [tone, what] = severity === 'error' ? ['bad', bad] : ['warn', 'A setting is ignored'];
    return [tone, `${what}: ${problem.replace(/^(error|warning): /, '')}`];
  });
}

function serviceTroubles({ heart, rate_limit: limit, service }) {
  const found = heart.avoided_addresses.map(({ address, reason }) => [
    'warn',
    `Address ${address} of the service is avoided: ${reason}`,
  ]);
  for (const trait of service.traits) if (trait.verdict === 'broken') found.push(['bad', trait.says]);
  const { stretch_ratio: stretch, allowed_requests_per_second: allowed, paused_seconds: paused } = limit;
  if (paused > LONG_PAUSE_SECONDS)
    found.push(['warn', `The service asks for a pause of all requests, for ${seconds(paused)} more`]);
  if (stretch > STRETCHED && allowed !== null)
    found.push([
      'warn',
      `The daemon uses up to ${rounded(allowed)} requests a second beside heartbeats, for the rate limit of the key: logs and watches are polled ${rounded(stretch)} times less often. Follow less, or use another key`,
    ]);
  return found;
}

function logTroubles(status) {
  const found = [];
  const inMemory = 'Log records are in memory alone: PILOTLIGHT_STATE_DIR cannot be used, and is tried again';
  if (status.spool_durable === false) found.push(['warn', inMemory]);
  for (const { sink, dropped_lines: dropped, lag_lines: lag, last_error: error } of status.sinks) {
    if (counted(dropped)) found.push(['bad', `Log sink ${sink} missed lines: ${counted(dropped)}`]);
    if (error) found.push(['warn', `Log sink ${sink} fails, ${plural(lag, 'record')} waiting: ${error}`]);
  }
  for (const log of [...status.worker_groups, ...status.endpoint_logs]) {
    // The replica that took the lines of a handover still has them.
    const { reset: _, handover: _handover, ...lossy } = log.gaps;
    if (counted(lossy)) found.push(['warn', `${logName(log)} has gaps in its log: ${counted(lossy)}`]);
    if (log.last_error) found.push(['warn', `${logName(log)} cannot be read: ${log.last_error}`]);
  }
  return found;
}

function watchTroubles(status, now) {
  const found = [];
  for (const window of status.maintenance_windows) {
    if (!isImminent(window, now)) continue;
    const when = window.starts_at > now ? `in ${seconds(window.starts_at - now)}` : 'is under way';
    found.push(['warn', `Machine ${window.machine_id}: ${window.category} maintenance ${when}`]);
  }
  for (const group of status.endpoint_groups) {
    const tone = endpointGroupTone(group);
    if (tone !== 'good')
      found.push([tone, `Endpoint group ${group.endpoint_group}: ${findingsInWords(group.findings)}`]);
  }
  for (const { job, last_error: error } of status.jobs)
    if (error) found.push(['warn', `Job ${job} failed: ${error}`]);
  if (status.account?.locked_methods > 0) found.push(['bad', 'A second factor of the account is locked']);
  return found;
}

function appTroubles({ state, unhealthy_seconds: unhealthy, grace_seconds: grace, last_error: error }) {
  const since = `The app has been unhealthy for ${seconds(unhealthy)}`;
  if (state === 'withheld') return [['bad', `${since}, so heartbeats are withheld: ${error}`]];
  if (state !== 'unhealthy') return [];
  return [['warn', `${since}; heartbeats are withheld after ${seconds(grace)}: ${error}`]];
}

const ALL_ALIVE = ['No deployment to keep', 'The deployment is alive', 'Both deployments are alive'];
const DEAD = new Set(['gone', 'lapsed']);
const RISK = 0.25;

/** The time left counts, not the last heartbeat. */
function isAlive(deployment, now) {
  const { state, expires_at: expires } = deployment;
  return expires === null ? deploymentTone(deployment) === 'good' : !DEAD.has(state) && expires > now;
}

function isAtRisk({ state, expires_at: expires, ttl_seconds: ttl }, now) {
  return state === 'urgent' || (expires !== null && expires - now < RISK * ttl);
}

function keptInWords({ deployments, missing_deployments: missing }, now) {
  // The list has the successor of a replaced deployment.
  const kept = deployments.filter(({ state }) => state !== 'replaced');
  const alive = kept.filter((deployment) => isAlive(deployment, now));
  const risky = alive.filter((deployment) => isAtRisk(deployment, now)).length;
  const count = kept.length + missing.length;
  const all = ALL_ALIVE[count] ?? `All ${count} deployments are alive`;
  const words = alive.length === count ? all : `${alive.length} of ${plural(count, 'deployment')} alive`;
  if (risky === 0) return words;
  return risky === 1 && count === 1 ? `${words}, but at risk` : `${words}, ${risky} at risk`;
}

export function summaryOf(status, now) {
  const list = allTroubles(status, now);
  const tone = list[0]?.[0] ?? 'good';
  const kept = keptInWords(status, now);
  const rest = list.length === 0 ? 'all is well' : `${plural(list.length, 'thing')} to look at`;
  const leaving = status.state === 'running' ? '' : ` (${status.state})`;
  return { tone, sentence: `${kept}, ${rest}${leaving}.`, troubles: list.map(([, text]) => text) };
}

const STALE_AFTER_INTERVALS = 4;

export function noEndpoints({ fleet: { configured, samples }, replica: { role } }) {
  if (role === 'standby') return 'Another replica watches them.';
  if (!configured) return 'None configured (PILOTLIGHT_ENDPOINTS).';
  return samples ? 'None found (PILOTLIGHT_ENDPOINTS).' : 'The daemon has not looked at them yet.';
}

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
function endpointTroubles(endpoint, { sample_interval_seconds: interval }, now) {
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
