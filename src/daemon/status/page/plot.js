// Mouse, finger and arrow keys choose a moment; its values stand below the plot.
/* global uPlot */
import { element } from './status-dom.js';
import { short } from './status-words.js';

const HEIGHT = 160;
/** Points that Page Up and Page Down pass. */
const PAGE = 10;

/** @typedef {{ label: string, colour: string, values: (number | null)[], isDashed?: boolean, isFilled?: boolean }} Line */

/** A screen reader says `label`; `caption` is visible. */
export function createPlot({ label, caption, isStacked = false }) {
  const area = element('div', {
    class: 'plot',
    tabindex: '0',
    role: 'slider',
    'aria-label': `${label}: time`,
    'aria-valuemin': '0',
  });
  const moment = element('span', { class: 'quiet' });
  const legend = element('ul', { class: 'legend' });
  const figure = element('figure', {}, element('figcaption', {}, caption, ' ', moment), area, legend);
  let plot;
  /** @type {{ at: number[], from: number, to: number, series: Line[] }} */
  let shown = { at: [], series: [], from: 0, to: 1 };
  /** Undefined: the newest. */
  let chosen;

  const indexNow = () => Math.min(chosen ?? Infinity, shown.at.length - 1);

  function tell() {
    const index = indexNow();
    const { at, series, from, to } = shown;
    const time = at[index] === undefined ? '' : timeInWords(at[index], to - from);
    const valueOf = ({ values }) => {
      const value = values[index] ?? null;
      return value === null ? 'not known' : short(value);
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
        const swatch = element('i', { class: isDashed ? 'dashed' : '' });
        swatch.style.setProperty('--colour', `var(--${colour})`);
        return element('li', {}, swatch, `${name} `, element('b'));
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
          x: { range: () => [shown.from, shown.to] },
          y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] },
        },
        axes: [
          {
            ...look,
            size: 32,
            space: 60,
            values: (_, splits) => splits.map((at) => axisTime(at, shown.to - shown.from)),
          },
          {
            ...look,
            size: 46,
            ...(isStacked ? { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] } : {}),
            values: (_, splits) => splits.map((value) => short(value)),
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
    const base = { stroke: colourOf(colour), width: 1.5, points: { show: false } };
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
  const probe = element('span');
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
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
