// The cards of everything but endpoints.
import { ago, byId, cards, element, errorNote, facts, note, plainList, quiet } from './status-dom.js';
import {
  clockTime,
  counted,
  deploymentName,
  findingInWords,
  findingsInWords,
  logName,
  lostLines,
  plural,
  printable,
  seconds,
} from './status-words.js';
import { deploymentTone, endpointGroupTone, isImminent } from './status-summary.js';

const ANSWERED = new Set(['accepted', 'superseded']);

export function drawDeployments({ deployments, missing_deployments: missing }) {
  const missingOnes = missing.map((each) => ({ ...each, state: 'missing' }));
  cards(byId('deployments'), [...deployments, ...missingOnes], {
    name: (deployment) => `Deployment ${deploymentName(deployment)}`,
    tone: deploymentTone,
    word: ({ state }) => state,
    draw: (deployment) =>
      deployment.state === 'missing'
        ? [note(deploymentTone(deployment), deployment.reason ?? 'The service was not asked yet.')]
        : deploymentFacts(deployment),
    none: 'None configured (PILOTLIGHT_DEPLOYMENTS).',
  });
}

function deploymentFacts(deployment) {
  const { ttl_seconds: ttl, min_margin_ratio: margin, last_error: error, last_error_at: at } = deployment;
  const tone = deploymentTone(deployment);
  return [
    ...remaining(deployment, tone),
    facts(
      ['Last accepted', ago(deployment.last_success_at)],
      [
        'Heartbeat',
        `every ${seconds(deployment.interval_seconds)}, ${deployment.heartbeats.toLocaleString('en')} sent`,
      ],
      ['Closest call', margin === null ? '—' : `${Math.round(margin * 100)}% of ${seconds(ttl)} left`],
      ['Lapses', String(deployment.lapses)],
    ),
    ...(error ? [note(tone === 'good' ? 'quiet' : tone, 'Last failure ', ago(at), `: ${error}`)] : []),
    beats(deployment.last_heartbeats),
  ];
}

function remaining(deployment, tone) {
  const { ttl_seconds: ttl, expires_at: expires } = deployment;
  if (expires === null || ttl === null) {
    const known = ttl === null ? 'TTL not known' : `of ${seconds(ttl)}, not yet accepted`;
    return [element('p', { class: 'large' }, '— ', element('small', {}, known))];
  }
  const meter = {
    class: `bar ${tone}`,
    role: 'meter',
    'aria-label': `Remaining TTL of deployment ${deploymentName(deployment)}`,
    'aria-valuemin': '0',
    'aria-valuemax': String(ttl),
    'aria-valuenow': '0',
    'data-expires': String(expires),
    'data-ttl': String(ttl),
  };
  const left = element('span', { 'data-until': String(expires) });
  return [
    element('p', { class: 'large' }, left, element('small', {}, ` left of ${seconds(ttl)}`)),
    element('div', meter, element('span')),
  ];
}

/** A slow heartbeat has a high bar. */
function beats(list) {
  const slowest = Math.max(1, ...list.map(({ latency_ms: latency }) => latency ?? 0));
  const failed = list.filter(({ outcome }) => !ANSWERED.has(outcome) && outcome !== 'waiting').length;
  return element(
    'ol',
    { class: 'beats', 'aria-label': `Last ${plural(list.length, 'heartbeat')}, ${failed} failed` },
    ...list.map(({ outcome, at, latency_ms: latency }) => {
      const tone = ANSWERED.has(outcome) ? 'good' : outcome === 'waiting' ? 'waiting' : 'bad';
      const took = latency === null ? '' : `, ${Math.round(latency)} ms`;
      const bar = element('li', { class: tone, title: `${clockTime(at)}: ${outcome}${took}` });
      bar.style.height = `${tone === 'bad' ? 100 : 25 + (60 * (latency ?? 0)) / slowest}%`;
      return bar;
    }),
  );
}

const HIDDEN =
  'Lines are not shown to everybody. PILOTLIGHT_METRICS_TOKEN shows them to those who have it, PILOTLIGHT_PUBLIC_STATUS=true to all.';

export function drawLogs({
  worker_groups: groups,
  endpoint_logs: endpoints,
  log_lines_shown: linesShown,
  replica,
}) {
  const logs = [...groups, ...endpoints];
  const shown = cards(byId('logs'), logs, {
    name: logName,
    tone: (log) => (log.last_error || counted(log.gaps) ? 'warn' : 'good'),
    word: (log) => (log.last_error ? 'failing' : counted(log.gaps) ? 'gaps' : 'no gaps'),
    draw: logFacts,
    none:
      othersDo(replica, 'Another replica follows the logs.') ??
      'None configured (PILOTLIGHT_WORKER_GROUPS, PILOTLIGHT_ENDPOINT_LOGS).',
  });
  for (const [index, card] of shown.entries()) drawLines(card, logs[index], linesShown);
}

/** Undefined: this replica does it. Without Redis the leader is unknown. */
function othersDo({ role, last_error: error }, words) {
  if (role !== 'standby') return undefined;
  return error ? printable(error) : words;
}

function logFacts(log) {
  const gaps = counted(log.gaps);
  const rate = log.lines_per_second;
  return [
    element(
      'p',
      { class: 'large' },
      rate < 10 ? rate.toFixed(1) : Math.round(rate).toLocaleString('en'),
      element('small', {}, ` lines/s, ${plural(log.lines, 'line')} in all`),
    ),
    facts(
      ['Last line', ago(log.last_line_at)],
      ['Polled', `every ${seconds(log.poll_interval_seconds)}`],
      ...(gaps ? [['Gaps', `${gaps}; ${lostLines(log)}`]] : []),
    ),
    ...errorNote(log.last_error),
  ];
}

/** Scrolls to the newest line unless the reader has scrolled up. */
function drawLines(card, log, linesShown) {
  let pre = card.querySelector('pre');
  if (!pre) {
    pre = element('pre', {
      'data-keep': '',
      tabindex: '0',
      role: 'region',
      'aria-label': `Last lines of ${logName(log)}`,
    });
    card.append(pre);
  }
  const none = linesShown ? 'No line yet.' : HIDDEN;
  const text = log.last_lines.map((line) => printable(line)).join('\n') || none;
  if (pre.textContent === text) return;
  const atEnd = pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 2;
  pre.textContent = text;
  if (atEnd) pre.scrollTop = pre.scrollHeight;
}

export function drawSinks({ sinks, spool_durable: durable, replica }) {
  cards(byId('sinks'), sinks, {
    name: ({ sink }) => `Log sink ${sink}`,
    tone: ({ dropped_lines: dropped, last_error: error }) =>
      counted(dropped) ? 'bad' : error ? 'warn' : 'good',
    word: ({ dropped_lines: dropped, last_error: error }) =>
      error ? 'failing' : counted(dropped) ? 'missed lines' : 'delivering',
    draw: (sink) => sinkFacts(sink, durable),
    none: othersDo(replica, 'Another replica delivers the logs.') ?? 'None configured.',
  });
}

function sinkFacts(sink, durable) {
  const dropped = counted(sink.dropped_lines);
  return [
    facts(
      ['Waiting', plural(sink.lag_lines, 'record')],
      ['Delivered', plural(sink.delivered_lines, 'record')],
      ...(dropped ? [['Dropped', dropped]] : []),
      ['Kept', durable === null ? 'in memory' : durable ? 'durably' : 'in memory, for now'],
    ),
    ...errorNote(sink.last_error),
  ];
}

export function drawEndpointGroups(groups) {
  cards(byId('endpoint-groups'), groups, {
    name: (group) => printable(`Endpoint group ${group.endpoint_group}`),
    tone: endpointGroupTone,
    word: ({ findings }) => findingsInWords(findings) || 'parameters fine',
    draw: ({ findings }) => [
      plainList(findings.filter(({ severity }) => severity !== 'note').map(findingInWords)),
    ],
    none: 'None configured (PILOTLIGHT_ENDPOINT_GROUPS).',
  });
}

export function drawWatches({ maintenance_windows: windows, instances, account, jobs, service }, now) {
  const items = [
    { title: 'Maintenance', seen: windows, body: () => maintenance(windows, now) },
    { title: 'Instances', seen: instances, body: () => instanceCounts(instances) },
    { title: 'Account', seen: account, body: () => accountFacts(account) },
    { title: 'Jobs', seen: jobs, body: () => [facts(...jobs.map(jobFact))] },
    { title: 'Service', seen: service.traits, body: () => serviceTraits(service.traits) },
  ];
  cards(byId('watches'), items, {
    name: ({ title }) => title,
    tone: ({ seen }) =>
      seen === service.traits && seen.some(({ verdict }) => verdict === 'broken') ? 'bad' : 'good',
    draw: ({ body }) => body(),
    none: '',
  });
}

function serviceTraits(traits) {
  if (traits.length === 0) return [quiet('No answer has told yet how it behaves.')];
  const [unlike, like] = [false, true].map((isFine) =>
    traits.filter(({ verdict }) => (verdict === 'fine') === isFine).map(({ says }) => says),
  );
  return [plainList([...unlike, ...like])];
}

function accountFacts(account) {
  if (!account) return [quiet('Not looked at yet.')];
  const { tfa_enabled: isOn, backup_codes_remaining: codes, locked_methods: locked } = account;
  return [
    facts(
      ['Two-factor', isOn ? 'on' : 'off'],
      ['Backup codes', String(codes ?? 'not known')],
      ['Locked methods', String(locked)],
    ),
  ];
}

function maintenance(windows, now) {
  if (windows.length === 0) return [quiet('No window known.')];
  return windows.map((window) => {
    const { machine_id: machine, category, starts_at: start, ends_at: end } = window;
    const when = start > now ? ['in ', element('span', { 'data-until': String(start) })] : ['under way'];
    const tone = isImminent(window, now) ? 'warn' : '';
    return note(tone, `Machine ${machine}, ${category}: `, ...when, until(end));
  });
}

function until(end) {
  if (end === null) return '';
  return `, until ${new Date(end * 1000).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })}`;
}

function instanceCounts(instances) {
  const present = Object.entries(instances).filter(([, count]) => count > 0);
  if (present.length === 0) return [quiet('None.')];
  return [facts(...present.map(([state, count]) => [state, String(count)]))];
}

function jobFact({ job, schedule, failures, last_success_at: success, last_error: error }) {
  if (schedule === 'off') return [job, 'off'];
  const words = element('span', {}, success === null ? 'no success yet' : 'succeeded ');
  if (success !== null) words.append(ago(success));
  if (error) words.append(`; last failure: ${error}`);
  else if (failures > 0) words.append(`, ${plural(failures, 'failure')} before`);
  return [job, words];
}
