// The cards of endpoints, with the plots of what was recorded. Loaded with the first endpoint.
/* global createPlot */
import { ask } from './status-access.js';
import { ago, byId, cards, element, errorNote, facts, plainList, quiet } from './status-dom.js';
import { counted, findingInWords, plural, printable, seconds, short } from './status-words.js';
import { driftInWords, endpointTone, isAboveBudget, namedTroubles, spendPerHour } from './status-summary.js';

const REFRESH_MS = 30_000;
/** As many as a plot has pixels. */
const ROWS = 400;
/** Rows further apart than this many of their lengths have a hole between them. */
const HOLE = 2.5;

let follow;

export function drawEndpoints(fleet, now) {
  const shown = cards(byId('endpoints'), fleet.endpoints, {
    name: (endpoint) => printable(`Endpoint ${endpoint.endpoint_group}`),
    tone: (endpoint) =>
      `endpoint ${endpoint.state === null ? 'waiting' : endpointTone(endpoint, fleet, now)}`,
    word: ({ state }) => printable(state ?? 'not seen yet'),
    draw: (endpoint) => [about(endpoint)],
    // Loads and prices may be small, so their text decides whether a card has changed.
    state: (endpoint) => [endpoint, figures(endpoint), endpointTone(endpoint, fleet, now)],
    none: '',
  });
  for (const [index, card] of shown.entries()) {
    if (card.querySelector('[data-keep]')) continue;
    card.append(element('div', { class: 'plots', 'data-keep': '' }));
    const { endpoint_group: name } = fleet.endpoints[index];
    card.dataset.endpoint = name;
  }
  drawSpend(fleet);
  follow ??= followHistory(byId('endpoints'), byId('endpoints-range'));
  follow(fleet);
}

function about(endpoint) {
  const { drift, findings, last_error: error } = endpoint;
  const spoken = findings.filter(({ severity }) => severity !== 'note');
  return element(
    'div',
    { class: 'about' },
    largest(endpoint),
    facts(...figures(endpoint), ['Seen', ago(endpoint.last_sample_at)]),
    ...errorNote(error),
    ...list('What is wrong', [
      ...namedTroubles(endpoint).map(([, text]) => printable(text.replace(/^[ :]+/, ''))),
      ...drift.map((each) => `Not as configured: ${driftInWords(each)}`),
      ...spoken.map(findingInWords),
    ]),
  );
}

function largest({ load, load_in_flight: inFlight, requests_working: requests, capacity_hot: ready }) {
  const large = (figure, words) =>
    element('p', { class: 'large' }, short(figure), element('small', {}, words));
  if (load !== null) return large(load, ` asked of ${short(ready)} units/s`);
  if (inFlight === null) return large(requests, ' requests at work');
  return large(inFlight, ` units in flight${ready > 0 ? `, ${seconds(inFlight / ready)} of work` : ''}`);
}

function figures(endpoint) {
  const { workers, capacity_cold: cold, requests_working: requests, ...more } = endpoint;
  const spend = spendPerHour(endpoint);
  return [
    ['Meaning of load', `${more.load_meaning}: ${more.load_because}`],
    ['Price', spend === null ? 'not known' : `${spend.toFixed(2)} an hour`],
    ['Workers', workers === null ? 'not known' : counted(workers).replaceAll('_', ' ') || 'none'],
    ['Stopped ones', cold === null ? 'not known' : `${short(cold)} units/s more`],
    ['Requests', requests === null ? 'not known' : `${plural(requests, 'request')} at work`],
  ];
}

function list(title, lines) {
  return lines.length === 0 ? [] : [...errorNote(title), plainList(lines)];
}

function drawSpend(fleet) {
  byId('spend-section').hidden = fleet.endpoints.length === 0;
  cards(byId('spend'), fleet.endpoints.length === 0 ? [] : [fleet], {
    name: () => 'In dollars, by UTC days',
    tone: () => (isAboveBudget(fleet) ? 'warn' : 'good'),
    draw: spendFacts,
    state: (shown) => [ofEndpoints(shown), together(shown), shown.spend_unanswered],
    none: '',
  });
}

function spendFacts(fleet) {
  return [
    facts(...ofEndpoints(fleet)),
    facts(...together(fleet)),
    ...fleet.spend_unanswered.flatMap(({ permission, is_missing: isMissing, error }) =>
      errorNote(
        isMissing ? `The key lacks the permission ${permission}` : `Not told (${permission}): ${error}`,
      ),
    ),
  ];
}

function ofEndpoints({ endpoints }) {
  return endpoints.map((endpoint) => {
    const { spend_told_per_hour: told, spend_today: today, spend_month: month } = endpoint;
    const rate = dollars(spendPerHour(endpoint), told === null ? 'estimated' : 'told');
    return [
      printable(endpoint.endpoint_group),
      `${rate} an hour; ${figureInWords(today)} today; ${figureInWords(month)} this month`,
    ];
  });
}

function together(fleet) {
  const { endpoints, spend_month: month, spend_month_forecast: forecast, budget_per_month: budget } = fleet;
  const { orphan_instances: orphans, orphan_spend_per_hour: wasted } = fleet;
  const above = isAboveBudget(fleet) ? `, above the budget of ${dollars(budget)}` : '';
  return [
    ['This month', `${figureInWords(month)}; ${dollars(forecast)} at its end${above}`],
    ['Ready, without requests', `${dollars(sumOf(endpoints, 'spend_idle_per_hour'))} an hour`],
    ['Loading and starting', `${dollars(sumOf(endpoints, 'spend_starting_per_hour'))} an hour`],
    [
      'Without a worker',
      orphans === null ? 'not known' : `${plural(orphans, 'instance')}, ${dollars(wasted)} an hour`,
    ],
  ];
}

function sumOf(endpoints, field) {
  return endpoints.some((endpoint) => endpoint[field] === null)
    ? null
    : endpoints.reduce((sum, endpoint) => sum + endpoint[field], 0);
}

function figureInWords(known) {
  return known === null ? 'not known' : dollars(known.amount, known.source);
}

function dollars(amount, source) {
  if (amount === null) return 'not known';
  return source === undefined ? amount.toFixed(2) : `${amount.toFixed(2)} (${source})`;
}

/** Returns a function that takes each new status, and loads the history when it is due. */
function followHistory(container, range) {
  let loadedAt = -Infinity;
  let names = '';
  let loading = false;
  const panels = new Map();
  range.addEventListener('change', () => {
    loadedAt = -Infinity;
  });

  async function load(fleet) {
    const path = `api/fleet?from=${range.value}&rows=${ROWS}`;
    const response = await ask(path, AbortSignal.timeout(10_000));
    const { from, to, endpoints } = await response.json();
    await plotting();
    for (const { endpoint_group: name, rows } of endpoints) {
      const card = [...container.children].find(({ dataset }) => dataset.endpoint === name);
      const box = card?.querySelector('.plots');
      if (!box) continue;
      if (panels.get(name)?.box !== box) panels.set(name, createPanel(box, name));
      panels.get(name).draw({ from, to, rows, interval: fleet.sample_interval_seconds });
    }
  }

  return (fleet) => {
    const now = fleet.endpoints.map(({ endpoint_group: name }) => name).join('\n');
    const isDue = performance.now() - loadedAt > REFRESH_MS || now !== names;
    if (loading || !isDue || now === '') return;
    loading = true;
    loadedAt = performance.now();
    names = now;
    load(fleet)
      .catch((error) => {
        for (const box of container.querySelectorAll('.plots'))
          if (!box.hasChildNodes()) box.append(quiet(`What was recorded cannot be read: ${error.message}`));
      })
      .finally(() => {
        loading = false;
      });
  };
}

let plots;

function plotting() {
  if (plots === undefined)
    document.head.append(element('link', { rel: 'stylesheet', href: 'uPlot.min.css' }));
  plots ??= Promise.all(['uPlot.iife.min.js', 'plot.js'].map((src) => loaded(src)));
  return plots;
}

function loaded(src) {
  return new Promise((resolve, reject) => {
    const script = element('script', { src });
    script.addEventListener('load', resolve);
    script.addEventListener('error', () => reject(new Error('the plots cannot be loaded')));
    document.head.append(script);
  });
}

const DAY = { day: 'numeric', month: 'short' };
/** Shorter plots show seconds. */
const BRIEF = 900;

function timeInWords(at, span) {
  const time = clockTime(at, span);
  return span <= 86_400 ? time : `${dayOf(at)}, ${time}`;
}

function axisTime(at, span) {
  return span <= 2 * 86_400 ? clockTime(at, span) : dayOf(at);
}

function clockTime(at, span) {
  const second = span <= BRIEF ? { second: '2-digit' } : {};
  return new Date(at * 1000).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', ...second });
}

function dayOf(at) {
  return new Date(at * 1000).toLocaleDateString('en-GB', DAY);
}

const WORDS = { value: short, moment: timeInWords, tick: axisTime };

function createPanel(box, name) {
  const load = createPlot({
    label: `Load and capacity of ${printable(name)}`,
    caption: 'Load and capacity, units/s',
    words: WORDS,
  });
  const workers = createPlot({
    label: `Workers of ${printable(name)} by status`,
    caption: 'Workers by status',
    words: WORDS,
    isStacked: true,
  });
  const spend = quiet('');
  const nothing = quiet('Nothing is recorded of these hours yet.');
  box.replaceChildren(load.figure, workers.figure, element('div', { class: 'recorded' }, spend));
  return {
    box,
    draw({ from, to, rows, interval }) {
      const points = withHoles(rows, interval);
      const isEmpty = rows.length === 0;
      for (const { figure } of [load, workers]) figure.hidden = isEmpty;
      if (isEmpty) return spend.replaceChildren(nothing);
      // Hours before the first row take no room.
      const window = { from: Math.max(from, rows[0].from), to, at: points.map(({ at }) => at) };
      load.draw({ ...window, series: loadSeries(points) });
      workers.draw({ ...window, series: workerSeries(points) });
      spend.textContent = spendInWords(rows, interval);
    },
  };
}

/** A point without values in each hole. */
function withHoles(rows, interval) {
  return rows.flatMap((row, index) => {
    const before = rows[index - 1];
    const length = Math.max(row.length_seconds, before?.length_seconds ?? 0, interval);
    const isAfterHole = before !== undefined && row.from - before.from > HOLE * length;
    return [...(isAfterHole ? [{ at: before.from + length, row: null }] : []), { at: row.from, row }];
  });
}

function mean(points, value) {
  return points.map(({ row }) => (row === null ? null : (value(row)?.mean ?? null)));
}

function loadSeries(points) {
  const load = { colour: 'load', isFilled: true };
  // A row in which the meaning of the load was unknown has none.
  const loads = [
    { label: 'asked', ...load, values: mean(points, (row) => row.load) },
    { label: 'in flight, units', ...load, values: mean(points, (row) => row.load_in_flight) },
  ];
  const known = loads.filter(({ values }) => values.some((value) => value !== null));
  const hot = mean(points, (row) => row.capacity_hot);
  const cold = mean(points, (row) => row.capacity_cold);
  return [
    ...(known.length > 0 ? known : loads.slice(0, 1)),
    { label: 'ready workers can do', colour: 'hot', values: hot },
    {
      label: 'with the stopped ones',
      colour: 'cold',
      isDashed: true,
      values: hot.map((value, index) => (value === null ? null : value + (cold[index] ?? 0))),
    },
  ];
}

/** From the bottom of the stack to its top. */
const STATUSES = `idle ready running update_ready update_starting update_rebooting rebooting starting
  model_loading loading created creating pending stopping stopped error destroying offline exited unknown`.split(
  /\s+/,
);

function workerSeries(points) {
  const present = STATUSES.filter((status) => points.some(({ row }) => row?.workers[status]?.peak > 0));
  return present.map((status) => ({
    label: status.replaceAll('_', ' '),
    colour: `worker-${status}`,
    values: points.map(({ row }) => (row === null ? null : (row.workers[status]?.mean ?? 0))),
  }));
}

function spendInWords(rows, interval) {
  const known = rows.filter(({ spend_per_hour: spend }) => spend !== null);
  if (known.length === 0) return 'Its price is not known.';
  const hoursOf = ({ length_seconds: length }) => (length || interval) / 3600;
  const hours = known.reduce((sum, row) => sum + hoursOf(row), 0);
  const spent = known.reduce((sum, row) => sum + row.spend_per_hour.mean * hoursOf(row), 0);
  const peak = Math.max(...known.map((row) => row.spend_per_hour.peak));
  return `Price: ${(spent / hours).toFixed(2)} an hour on average, at most ${peak.toFixed(2)}; about ${spent.toFixed(2)} for what is recorded here.`;
}
