import { ask } from '../status-access.js';
import { element, quiet } from '../status-dom.js';
import { printable, short } from '../status-words.js';
import { createPlot, timeInWords } from './plot.js';

const REFRESH_MS = 30_000;
/** As many as a plot has pixels. */
const ROWS = 400;
const TABLE_ROWS = 12;
/** Rows further apart than this many of their lengths have a hole between them. */
const HOLE = 2.5;

/** Returns a function that takes each new status, and loads the history when it is due. */
export function followHistory(container, range) {
  let loadedAt = -Infinity;
  let names = '';
  let loading = false;
  const panels = new Map();
  range.addEventListener('change', () => {
    loadedAt = -Infinity;
  });

  async function load(fleet) {
    const path = `/api/fleet?from=${range.value}&rows=${ROWS}`;
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
  plots ??= new Promise((resolve, reject) => {
    const script = element('script', { src: 'uPlot.iife.min.js' });
    script.addEventListener('load', resolve);
    script.addEventListener('error', () => reject(new Error('the plots cannot be loaded')));
    document.head.append(
      element('link', { rel: 'stylesheet', href: 'uPlot.min.css' }),
      element('link', { rel: 'stylesheet', href: 'fleet/fleet.css' }),
      script,
    );
  });
  return plots;
}

function createPanel(box, name) {
  const load = createPlot({
    label: `Load and capacity of ${printable(name)}`,
    caption: 'Load and capacity, units/s',
  });
  const workers = createPlot({
    label: `Workers of ${printable(name)} by status`,
    caption: 'Workers by status',
    isStacked: true,
  });
  const spend = quiet('');
  const table = element('tbody');
  const titles = ['Time', 'Load', 'Ready can do', 'Stopped could do', 'Price an hour', 'Workers'];
  const head = element('tr', {}, ...titles.map((title) => element('th', { scope: 'col' }, title)));
  const region = {
    class: 'scroll',
    tabindex: '0',
    role: 'region',
    'aria-label': `Figures of ${printable(name)}`,
  };
  const figures = element(
    'details',
    {},
    element('summary', {}, 'The same as figures'),
    element('div', region, element('table', {}, element('thead', {}, head), table)),
  );
  const nothing = quiet('Nothing is recorded of these hours yet.');
  box.replaceChildren(load.figure, workers.figure, element('div', { class: 'recorded' }, spend, figures));
  return {
    box,
    draw({ from, to, rows, interval }) {
      const points = withHoles(rows, interval);
      const isEmpty = rows.length === 0;
      for (const { figure } of [load, workers]) figure.hidden = isEmpty;
      figures.hidden = isEmpty;
      if (isEmpty) return spend.replaceChildren(nothing);
      // Hours before the first row take no room.
      const window = { from: Math.max(from, rows[0].from), to, at: points.map(({ at }) => at) };
      load.draw({ ...window, series: loadSeries(points) });
      workers.draw({ ...window, series: workerSeries(points) });
      spend.textContent = spendInWords(rows, interval);
      table.replaceChildren(...tableRows(rows, window.to - window.from));
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

function tableRows(rows, span) {
  const step = Math.max(1, (rows.length - 1) / (TABLE_ROWS - 1));
  const shown = Array.from(
    { length: Math.min(TABLE_ROWS, rows.length) },
    (_, index) => rows[Math.round(index * step)],
  );
  return shown.map((row) => {
    const cell = (value) => element('td', {}, value === null ? 'not known' : short(value.mean));
    const workers = Object.entries(row.workers)
      .filter(([, { peak }]) => peak > 0)
      .map(([status, { mean: count }]) => `${short(count)} ${status.replaceAll('_', ' ')}`);
    return element(
      'tr',
      {},
      element('th', { scope: 'row' }, timeInWords(row.from, span)),
      row.load_in_flight === null
        ? cell(row.load)
        : element('td', {}, `${short(row.load_in_flight.mean)} in flight`),
      cell(row.capacity_hot),
      cell(row.capacity_cold),
      element('td', {}, row.spend_per_hour === null ? 'not known' : row.spend_per_hour.mean.toFixed(2)),
      element('td', {}, workers.join(', ') || 'none'),
    );
  });
}
