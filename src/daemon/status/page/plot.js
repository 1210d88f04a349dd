// A plot with lines over time, for the status page and the page of a plan. A plan's page is one file, so it could import no module.
// Mouse, finger and arrow keys choose a moment; its values stand below the plot.
/* global uPlot */

const HEIGHT = 160;
/** Points that Page Up and Page Down pass. */
const PAGE = 10;

/** @typedef {{ label: string, colour: string, values: (number | null)[], isDashed?: boolean, isFilled?: boolean }} Line */

/**
 * A screen reader says `label`; `caption` is visible. `words` has those for values, moments and ticks of the time axis.
 * `steps` of that axis are seconds; a calendar's by default. `isJoined`: lines go on where they have no value.
 */
globalThis.createPlot = function createPlot({ label, caption, words, steps, isStacked, isJoined }) {
  const area = node('div', {
    class: 'plot',
    tabindex: '0',
    role: 'slider',
    'aria-label': `${label}: time`,
    'aria-valuemin': '0',
  });
  const moment = node('span', { class: 'quiet' });
  const legend = node('ul', { class: 'legend' });
  const figure = node('figure', {}, node('figcaption', {}, caption, ' ', moment), area, legend);
  let plot;
  /** @type {{ at: number[], from: number, to: number, series: Line[] }} */
  let shown = { at: [], series: [], from: 0, to: 1 };
  /** Undefined: the newest. */
  let chosen;

  const indexNow = () => Math.min(chosen ?? Infinity, shown.at.length - 1);

  function tell() {
    const index = indexNow();
    const { at, series, from, to } = shown;
    const time = at[index] === undefined ? '' : words.moment(at[index], to - from);
    const valueOf = ({ values }) => {
      const value = values[index] ?? null;
      return value === null ? 'not known' : words.value(value);
    };
    moment.textContent = time;
    for (const [place, each] of series.entries())
      legend.children[place].lastElementChild.textContent = valueOf(each);
    area.setAttribute('aria-valuemax', String(Math.max(0, at.length - 1)));
    area.setAttribute('aria-valuenow', String(Math.max(0, index)));
    area.setAttribute(
      'aria-valuetext',
      `${time}: ${series.map((each) => `${each.label} ${valueOf(each)}`).join(', ')}`,
    );
  }

  function choose(index) {
    chosen = Math.max(0, Math.min(shown.at.length - 1, index));
    plot.setCursor({ left: plot.valToPos(shown.at[chosen], 'x'), top: 0 });
  }

  area.addEventListener('keydown', (event) => {
    const moves = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -PAGE, PageUp: PAGE };
    const ends = { Home: 0, End: shown.at.length - 1 };
    const next = Object.hasOwn(moves, event.key) ? indexNow() + moves[event.key] : ends[event.key];
    if (next === undefined || shown.at.length === 0) return;
    event.preventDefault();
    choose(next);
  });

  function build() {
    plot?.destroy();
    const { series } = shown;
    legend.replaceChildren(
      ...series.map(({ label: name, colour, isDashed }) => {
        const swatch = node('i', { class: isDashed ? 'dashed' : '' });
        swatch.style.setProperty('--colour', `var(--${colour})`);
        return node('li', {}, swatch, `${name} `, node('b', {}));
      }),
    );
    const look = {
      stroke: colourOf('quiet'),
      grid: { stroke: colourOf('line'), width: 1 },
      ticks: { show: false },
    };
    plot = new uPlot(
      {
        width: area.clientWidth,
        height: HEIGHT,
        padding: [8, 12, 0, 0],
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { size: 6, show: !isStacked } },
        scales: {
          x: { time: steps === undefined, range: () => [shown.from, shown.to] },
          y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] },
        },
        axes: [
          {
            ...look,
            size: 32,
            space: 60,
            ...(steps && { incrs: steps }),
            values: (_, splits) => splits.map((at) => words.tick(at, shown.to - shown.from)),
          },
          {
            ...look,
            size: 46,
            ...(isStacked ? { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] } : {}),
            values: (_, splits) => splits.map((value) => words.value(value)),
          },
        ],
        series: [{}, ...drawn(series).map((each) => lineOf(each))],
        hooks: {
          setCursor: [
            ({ cursor: { idx } }) => {
              chosen = idx ?? undefined;
              tell();
            },
          ],
        },
      },
      valuesOf(),
      area,
    );
  }

  function lineOf({ colour, isDashed, isFilled }) {
    const base = { stroke: colourOf(colour), width: 1.5, points: { show: false }, spanGaps: isJoined };
    if (isStacked)
      return { ...base, width: 0, fill: colourOf(colour), paths: uPlot.paths.stepped({ align: 1 }) };
    return {
      ...base,
      ...(isDashed ? { dash: [5, 4] } : {}),
      ...(isFilled ? { fill: colourOf(`${colour}-ground`) } : {}),
    };
  }

  /** The largest sum first, so that the lower ones cover it. */
  function drawn(series) {
    return isStacked ? series.toReversed() : series;
  }

  function valuesOf() {
    const { at, series } = shown;
    const values = isStacked ? stacked(series) : series.map((each) => each.values);
    return [at, ...drawn(values)];
  }

  new ResizeObserver(() => {
    if (area.clientWidth > 0) plot?.setSize({ width: area.clientWidth, height: HEIGHT });
  }).observe(area);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    if (plot) build();
    tell();
  });

  return {
    figure,
    draw(next) {
      const names = ({ series }) => series.map(({ label: name }) => name).join();
      const isSame = plot && names(next) === names(shown);
      // The chosen time stays.
      const time = chosen === undefined ? undefined : shown.at[chosen];
      shown = next;
      if (time !== undefined) {
        const index = next.at.findIndex((at) => at >= time);
        chosen = index === -1 ? undefined : index;
      }
      if (isSame) plot.setData(valuesOf());
      else build();
      tell();
    },
  };
};

function node(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function stacked(series) {
  const sums = [];
  return series.map(({ values }) =>
    values.map((value, index) => {
      if (value === null) return null;
      sums[index] = (sums[index] ?? 0) + value;
      return sums[index];
    }),
  );
}

/** The canvas needs light-dark() resolved. */
function colourOf(name) {
  const probe = node('span', {});
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}
