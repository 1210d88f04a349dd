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

function lineOf(plan, label, key, index) {
  return {
    label,
    at: plan.series.atSeconds,
    figures: plan.series[key],
    stroke: colour(`series-${(index % SERIES_COLOURS) + 1}`),
    width: 1.5,
    spanGaps: true,
    points: { show: false },
    ...(index < SERIES_COLOURS ? {} : { dash: [6, 4] }),
  };
}

/** What a plot shows in detail of one plan, by label; of several, it has one line a plan: `each`. */
const PLOTS = {
  load: { unit: '', one: { capacity: 'capacity' }, each: 'capacity' },
  workers: { unit: '', one: { hot: 'hot', cold: 'cold', starting: 'starting' }, each: 'hot' },
  queue: { unit: ' s', one: { p50: 'queueP50', p95: 'queueP95', p99: 'queueP99' }, each: 'queueP99' },
  cost: { unit: '', one: { cost: 'cost' }, each: 'cost' },
};

/** Lines over time, from 0 on. */
function plotOf(name) {
  const { unit, one, each } = PLOTS[name];
  const { plans } = data;
  const [first] = plans;
  const lines =
    plans.length > 1
      ? plans.map((plan, index) => lineOf(plan, plan.label, each, index))
      : Object.entries(one).map(([label, key], index) => lineOf(first, label, key, index));
  if (name === 'load')
    lines.unshift({ ...lineOf(first, name, name, 0), stroke: colour('quiet'), fill: colour('faint') });
  const stroke = colour('line');
  const look = { stroke: colour('quiet'), grid: { stroke, width: 1 }, ticks: { stroke } };
  const valueOf = (value) => (value === null || value === undefined ? '' : `${short(value)}${unit}`);
  const timeOf = (seconds) => (seconds === null ? '' : clock(seconds));
  const valuesOf = (words) => (_, splits) => splits.map((split) => words(split));
  const options = {
    scales: { x: { time: false }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] } },
    axes: [
      { ...look, values: valuesOf(timeOf), space: 55, incrs: CLOCK_STEPS },
      { ...look, values: valuesOf(valueOf), size: 60 },
    ],
    series: [
      { label: 'at', value: (_, seconds) => timeOf(seconds) },
      ...lines.map((line) => ({ ...line, value: (_, value) => valueOf(value) })),
    ],
  };
  // Plans that end at different times do not share their last points.
  return { options, values: uPlot.join(lines.map(({ at, figures }) => [at, figures])) };
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
