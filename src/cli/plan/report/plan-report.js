// The plots of a plan, from the data in the page.
/* global createPlot, uPlot */

const data = JSON.parse(document.querySelector('script[type="application/json"]').textContent);
const { plans } = data;
const [first] = plans;
const isOfSeveral = plans.length > 1;

const SERIES_COLOURS = 4;

/** Steps of the time axis, in seconds: those that a clock has. */
const CLOCK_STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800,
  604_800,
];

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

/** What a plot shows in detail of one plan, by label; of several, it has one line a plan: `each`. */
const PLOTS = [
  {
    caption: 'Load and capacity, units of work a second',
    one: { capacity: 'capacity' },
    each: 'capacity',
  },
  {
    caption: isOfSeveral ? 'Hot workers' : 'Workers by state',
    one: { hot: 'hot', cold: 'cold', starting: 'starting' },
    each: 'hot',
  },
  {
    caption: isOfSeveral ? 'Queue time, p99, s' : 'Queue time of the requests that arrived then, s',
    one: { p50: 'queueP50', p95: 'queueP95', p99: 'queueP99' },
    each: 'queueP99',
  },
  { caption: 'Cost since the start', one: { cost: 'cost' }, each: 'cost' },
];

function linesOf({ one, each }) {
  const all = isOfSeveral
    ? plans.map((plan) => [plan.label, plan, each])
    : Object.entries(one).map(([label, key]) => [label, first, key]);
  const lines = all.map(([label, { series }, key], index) => ({
    label,
    at: series.atSeconds,
    figures: series[key],
    colour: `series-${(index % SERIES_COLOURS) + 1}`,
    isDashed: index >= SERIES_COLOURS,
  }));
  const { atSeconds: at, load: figures } = first.series;
  return each === 'capacity'
    ? [{ label: 'load', at, figures, colour: 'load', isFilled: true }, ...lines]
    : lines;
}

for (const shown of PLOTS) {
  const { caption } = shown;
  const words = { value: short, moment: clock, tick: clock };
  const plot = createPlot({ label: caption, caption, words, steps: CLOCK_STEPS, isJoined: true });
  plot.figure.className = 'card';
  document.getElementById('plots').append(plot.figure);
  const lines = linesOf(shown);
  // Plans that end at different times do not share their last points.
  const [at, ...values] = uPlot.join(lines.map((line) => [line.at, line.figures]));
  for (const [index, line] of lines.entries()) line.values = values[index];
  plot.draw({ at, from: 0, to: data.seconds, series: lines });
}
