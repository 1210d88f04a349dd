// The status page: reads /api/status every two seconds and draws it. Everything that comes from the service or
// from a worker's log is data: it reaches the page through textContent alone, never as markup.

const POLL_MS = 2000;
const DRAW_MS = 250;

let status;
let fetchedAt = 0;
let failure;

async function poll() {
  try {
    const response = await fetch('/api/status', { signal: AbortSignal.timeout(5000) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    status = await response.json();
    fetchedAt = performance.now();
    failure = undefined;
    drawAll();
  } catch (error) {
    failure = error;
    drawVerdict();
  }
  setTimeout(poll, POLL_MS);
}

/** The daemon's clock, in Unix seconds: the viewer's own may be wrong. */
function now() {
  return status.now + (performance.now() - fetchedAt) / 1000;
}

/** @param {string} tag @param {Record<string, string>} attributes @param {(Node | string)[]} children */
function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function fill(id, ...children) {
  document.getElementById(id).replaceChildren(...children);
}

function seconds(value) {
  if (value === null || value === undefined) return '—';
  const size = Math.abs(value);
  if (size < 10) return `${value.toFixed(1)} s`;
  if (size < 120) return `${Math.round(value)} s`;
  if (size < 7200) return `${Math.round(value / 60)} min`;
  return `${(value / 3600).toFixed(1)} h`;
}

function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function ago(at) {
  return at === null ? 'never' : `${seconds(Math.max(0, now() - at))} ago`;
}

const TROUBLED = new Set(['urgent', 'lapsed', 'gone', 'unauthorized']);
const UNEASY = new Set(['retrying', 'throttled', 'suspect-gone', 'starting']);

function tone(state) {
  return TROUBLED.has(state) ? 'bad' : UNEASY.has(state) ? 'warn' : 'good';
}

function drawAll() {
  drawVerdict();
  fill(
    'deployments',
    ...orNone(status.deployments.map(deploymentCard), 'None configured (PILOTLIGHT_DEPLOYMENTS).'),
  );
  drawGroups();
  fill(
    'endpoint-groups',
    ...orNone(status.endpoint_groups.map(endpointGroupCard), 'None configured (PILOTLIGHT_ENDPOINT_GROUPS).'),
  );
  fill('watches', ...watchCards());
  drawMoving();
}

/** The newest lines are shown, unless the reader has scrolled up to look at older ones. */
function drawGroups() {
  const before = [...document.querySelectorAll('#groups pre')].map((pre) =>
    pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 2 ? Infinity : pre.scrollTop,
  );
  fill(
    'groups',
    ...orNone(status.worker_groups.map(groupCard), 'None configured (PILOTLIGHT_WORKER_GROUPS).'),
  );
  for (const [index, pre] of [...document.querySelectorAll('#groups pre')].entries()) {
    pre.scrollTop = Math.min(before[index] ?? Infinity, pre.scrollHeight);
  }
}

function orNone(cards, text) {
  return cards.length > 0 ? cards : [element('p', { class: 'quiet' }, text)];
}

function drawVerdict() {
  const verdict = document.getElementById('verdict');
  if (failure) {
    verdict.className = 'bad';
    verdict.textContent = `The daemon does not answer (${failure.message}); what is shown may be old.`;
    return;
  }
  const troubled = status.deployments.filter(({ state }) => TROUBLED.has(state));
  const uneasy = status.deployments.filter(({ state }) => UNEASY.has(state));
  verdict.className = troubled.length > 0 ? 'bad' : uneasy.length > 0 ? 'warn' : 'good';
  verdict.textContent =
    troubled.length > 0
      ? `${troubled.length} of ${plural(status.deployments.length, 'deployment')} in trouble.`
      : uneasy.length > 0
        ? `${uneasy.length} of ${status.deployments.length} deployments being retried.`
        : `All ${plural(status.deployments.length, 'deployment')} lit.`;
  document.getElementById('process').textContent =
    `pilotlight ${status.version}, ${status.state}, up ${seconds(now() - status.started_at)}, ` +
    `service ${status.service.base_url}`;
}

function deploymentCard(deployment) {
  const { deployment_id: id, ttl_seconds: ttl, expires_at: expires } = deployment;
  const kind = tone(deployment.state);
  const bar = element('div', {
    class: `bar ${kind}`,
    role: 'meter',
    'aria-label': `Remaining TTL of deployment ${id}`,
    'aria-valuemin': '0',
    'aria-valuemax': String(ttl ?? 0),
    'data-expires': expires === null ? '' : String(expires),
    'data-ttl': ttl === null ? '' : String(ttl),
  });
  bar.append(element('span'));
  const failed = deployment.beats.filter(({ outcome }) => outcome !== 'accepted').length;
  return element(
    'article',
    { class: 'card', 'aria-label': `Deployment ${id}` },
    element(
      'div',
      { class: 'row' },
      element(
        'span',
        { class: 'name' },
        `Deployment ${id} `,
        element('span', { class: kind }, deployment.state),
      ),
      element('span', { class: 'quiet', 'data-remaining': expires === null ? '' : String(expires) }),
    ),
    ...(expires === null ? [] : [bar]),
    element(
      'p',
      { class: 'quiet' },
      `TTL ${seconds(ttl)}, heartbeat every ${seconds(deployment.interval_seconds)}, last accepted ` +
        `${ago(deployment.last_success_at)}, ${deployment.heartbeats} sent, closest approach ` +
        `${deployment.min_margin_ratio === null ? '—' : `${Math.round(deployment.min_margin_ratio * 100)}% of the TTL left`}, ` +
        `${deployment.lapses} lapses.`,
    ),
    ...(deployment.last_error
      ? [
          element(
            'p',
            { class: kind === 'good' ? 'quiet' : kind },
            `Last failure ${ago(deployment.last_error_at)}: ${deployment.last_error}.`,
          ),
        ]
      : []),
    element(
      'ol',
      { class: 'beats', 'aria-label': `Last ${deployment.beats.length} heartbeats, ${failed} failed` },
      ...deployment.beats.map(({ outcome, at, latency_ms: latency }) =>
        element('li', {
          class: outcome === 'accepted' ? 'good' : 'bad',
          title: `${new Date(at * 1000).toLocaleTimeString()}: ${outcome}${latency === null ? '' : `, ${Math.round(latency)} ms`}`,
        }),
      ),
    ),
  );
}

function groupCard(group) {
  const gaps = Object.entries(group.gaps).filter(([, count]) => count > 0);
  return element(
    'article',
    { class: 'card', 'aria-label': `Worker group ${group.workergroup_id}` },
    element(
      'div',
      { class: 'row' },
      element('span', { class: 'name' }, `Worker group ${group.workergroup_id}`),
      element(
        'span',
        { class: 'quiet' },
        `${group.lines_per_second.toFixed(1)} lines/s, ${group.lines} in all, polled every ${seconds(group.poll_interval_seconds)}`,
      ),
    ),
    ...(gaps.length > 0
      ? [
          element(
            'p',
            { class: 'warn' },
            `Gaps: ${gaps.map(([reason, count]) => `${count} ${reason}`).join(', ')}`,
          ),
        ]
      : []),
    ...(group.last_error ? [element('p', { class: 'warn' }, `Last failure: ${group.last_error}`)] : []),
    element(
      'pre',
      { tabindex: '0', role: 'region', 'aria-label': `Last lines of worker group ${group.workergroup_id}` },
      group.last_lines.map((line) => printable(line)).join('\n'),
    ),
  );
}

/** Colours and control characters of a log line say nothing here; they are kept in the delivered data. */
function printable(line) {
  // A progress bar is drawn over itself: what a terminal would show in the end is its last state.
  const shown = line.split('\r').findLast((part) => part !== '') ?? '';
  return shown
    .replaceAll(/\u001B\[[\d;]*[A-Za-z]/g, '')
    .replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F]/g, '·');
}

function endpointGroupCard(group) {
  const findings = group.findings.filter(({ severity }) => severity !== 'note');
  return element(
    'article',
    { class: 'card', 'aria-label': `Endpoint group ${group.endpoint_group}` },
    element(
      'div',
      { class: 'row' },
      element('span', { class: 'name' }, group.endpoint_group),
      element(
        'span',
        { class: findings.length > 0 ? 'warn' : 'good' },
        findings.length > 0 ? plural(findings.length, 'warning') : 'parameters fine',
      ),
    ),
    element(
      'ul',
      { class: 'plain' },
      ...findings.map(({ parameter, message }) => element('li', {}, `${parameter}: ${message}`)),
    ),
  );
}

function watchCards() {
  const windows = status.maintenance_windows.map((window) =>
    element(
      'li',
      { class: window.starts_at - now() < 6 * 3600 ? 'warn' : '' },
      `Machine ${window.machine_id}: ${window.category} maintenance ` +
        (window.starts_at > now() ? `in ${seconds(window.starts_at - now())}` : 'under way') +
        `, until ${new Date(window.ends_at * 1000).toLocaleString()}`,
    ),
  );
  const instances = Object.entries(status.instances).filter(([, count]) => count > 0);
  const { account } = status;
  return [
    element(
      'div',
      { class: 'card' },
      element('p', {}, windows.length > 0 ? '' : 'No maintenance window known.'),
      element('ul', { class: 'plain' }, ...windows),
      element(
        'p',
        {},
        instances.length > 0
          ? `Instances: ${instances.map(([state, count]) => `${count} ${state}`).join(', ')}.`
          : 'No instances.',
      ),
      element(
        'p',
        { class: account && account.locked_methods > 0 ? 'bad' : '' },
        account
          ? `Two-factor authentication ${account.tfa_enabled ? 'on' : 'off'}, ${account.backup_codes_remaining} backup codes left, ${account.locked_methods} methods locked.`
          : 'Account not looked at yet.',
      ),
      ...status.jobs
        .filter(({ last_error: error }) => error)
        .map((job) => element('p', { class: 'warn' }, `Job ${job.job}: ${job.last_error}`)),
    ),
  ];
}

/** The parts that move between two polls: bars and countdowns. */
function drawMoving() {
  if (!status) return;
  for (const bar of document.querySelectorAll('.bar')) {
    const ttl = Number(bar.dataset.ttl);
    const remaining = Math.max(0, Number(bar.dataset.expires) - now());
    bar.firstElementChild.style.transform = `scaleX(${Math.min(1, remaining / ttl)})`;
    bar.setAttribute('aria-valuenow', remaining.toFixed(0));
  }
  for (const label of document.querySelectorAll('[data-remaining]')) {
    const expires = label.dataset.remaining;
    label.textContent =
      expires === '' ? 'TTL unknown' : `${seconds(Math.max(0, Number(expires) - now()))} left`;
  }
}

void poll();
setInterval(drawMoving, DRAW_MS);
