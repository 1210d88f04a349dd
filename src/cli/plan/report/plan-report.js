// The plots of a plan, drawn with uPlot from the data in the page. Colours come from the style sheet, so that they follow
// light and dark.
/* global uPlot */

const data = JSON.parse(document.querySelector('script[type="application/json"]').textContent);
const HEIGHT = 220;

const SERIES_COLOURS = 4;

/** Steps of the time axis, in seconds: those that a clock has. */
const CLOCK_STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800,
  604_800,
];

/** A colour of the style sheet, as the canvas wants it: with light-dark() resolved. */
function colour(name) {
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}

function short(value) {
  if (Math.abs(value) >= 10_000) return `${Number((value / 1000).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}

function clock(seconds) {
  if (data.seconds < 600) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return data.seconds < 7200
    ? `${minutes} min`
    : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')} h`;
}

function axes(unit) {
  const ticks = { stroke: colour('line') };
  const grid = { stroke: colour('line'), width: 1 };
  const look = { stroke: colour('quiet'), grid, ticks };
  const values = (_, splits) => splits.map((value) => (value === null ? '' : `${short(value)}${unit}`));
  return [look, { ...look, size: 60, values }];
}

/** Lines over time: each `{ label, values, at, colour, dash, fill }`. */
function overTime(unit, lines) {
  // Plans that end at different times do not share their last points.
  const joined = uPlot.join(lines.map(({ at, values }) => [at, values]));
  const [x, y] = axes(unit);
  x.values = (_, splits) => splits.map((seconds) => clock(seconds));
  x.space = 55;
  x.incrs = CLOCK_STEPS;
  return {
    options: {
      scales: { x: { time: false }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] } },
      axes: [x, y],
      series: [
        { label: 'at', value: (_, seconds) => (seconds === null ? '' : clock(seconds)) },
        ...lines.map(({ label, colour: name, dash, fill }) => ({
          label,
          stroke: colour(name),
          width: 1.5,
          spanGaps: true,
          points: { show: false },
          value: (_, value) => (value === null || value === undefined ? '' : `${short(value)}${unit}`),
          ...(dash ? { dash } : {}),
          ...(fill ? { fill: colour('faint') } : {}),
        })),
      ],
    },
    values: joined,
  };
}

function lineOf(plan, label, key, index) {
  return {
    label,
    at: plan.series.atSeconds,
    values: plan.series[key],
    colour: `series-${(index % SERIES_COLOURS) + 1}`,
    dash: index < SERIES_COLOURS ? undefined : [6, 4],
  };
}

/** What a plot shows in detail of one plan, by label; of several, it has one line a plan: `each`. */
const PLOTS = {
  load: { unit: '', one: { capacity: 'capacity' }, each: 'capacity' },
  workers: { unit: '', one: { hot: 'hot', cold: 'cold', starting: 'starting' }, each: 'hot' },
  queue: { unit: ' s', one: { p50: 'queueP50', p95: 'queueP95', p99: 'queueP99' }, each: 'queueP99' },
  cost: { unit: '', one: { cost: 'cost' }, each: 'cost' },
};

function plotOf(name) {
  const { unit, one, each } = PLOTS[name];
  const { plans } = data;
  const [first] = plans;
  const lines =
    plans.length > 1
      ? plans.map((plan, index) => lineOf(plan, plan.label, each, index))
      : Object.entries(one).map(([label, key], index) => lineOf(first, label, key, index));
  if (name === 'load') lines.unshift({ ...lineOf(first, name, name, 0), colour: 'quiet', fill: true });
  return overTime(unit, lines);
}

/** A dashed line has a dashed box. */
const LEGEND = { markers: { dash: (plot, index) => (plot.series[index].dash ? 'dashed' : 'solid') } };

const drawn = new Map();

function draw(box) {
  drawn.get(box)?.destroy();
  const { options, values } = plotOf(box.dataset.plot);
  const size = { width: box.clientWidth, height: HEIGHT };
  drawn.set(
    box,
    new uPlot({ ...size, ...options, cursor: { points: { size: 6 } }, legend: LEGEND }, values, box),
  );
}

const boxes = [...document.querySelectorAll('[data-plot]')];
for (const box of boxes) {
  draw(box);
  new ResizeObserver(() => drawn.get(box).setSize({ width: box.clientWidth, height: HEIGHT })).observe(box);
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  for (const box of boxes) draw(box);
});
