// What the plots of a page have in common: drawn with uPlot from the data in the page. Colours come from the style sheet,
// so that they follow light and dark.
/* global uPlot */

const data = JSON.parse(document.querySelector('script[type="application/json"]').textContent);
const HEIGHT = 220;

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

function axes(unit, isLog) {
  const ticks = { stroke: colour('line') };
  const grid = { stroke: colour('line'), width: 1 };
  const look = { stroke: colour('quiet'), grid, ticks };
  const values = (_, splits) => splits.map((value) => (value === null ? '' : `${short(value)}${unit}`));
  // Of a logarithmic axis only 1, 10, 100: a line at every other digit makes it grey.
  const filter = (_, splits) => splits.map((value) => (Math.log10(value) % 1 === 0 ? value : null));
  const tens = isLog ? { filter, grid: { ...grid, filter }, ticks: { ...ticks, filter } } : {};
  return [look, { ...look, size: 60, values, ...tens }];
}

/** Lines over time: each `{ label, values, at, colour, dash, fill }`. `spanGaps`: over what is not known. */
// oxlint-disable-next-line no-unused-vars -- called by the script of a page, which comes after this one
function overTime(unit, lines, spanGaps = true) {
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
          spanGaps,
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

/** A dashed line has a dashed box. */
const LEGEND = { markers: { dash: (plot, index) => (plot.series[index].dash ? 'dashed' : 'solid') } };

const drawn = new Map();

function draw(box, plots) {
  drawn.get(box)?.destroy();
  const { options, values } = plots[box.dataset.plot](data);
  const size = { width: box.clientWidth, height: HEIGHT };
  drawn.set(
    box,
    new uPlot({ ...size, ...options, cursor: { points: { size: 6 } }, legend: LEGEND }, values, box),
  );
}

/** Each box of the page by its name in `plots`: what uPlot is given, made of the data. */
// oxlint-disable-next-line no-unused-vars -- as above
function drawAll(plots) {
  const boxes = [...document.querySelectorAll('[data-plot]')];
  for (const box of boxes) {
    draw(box, plots);
    new ResizeObserver(() => drawn.get(box).setSize({ width: box.clientWidth, height: HEIGHT })).observe(box);
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    for (const box of boxes) draw(box, plots);
  });
}
