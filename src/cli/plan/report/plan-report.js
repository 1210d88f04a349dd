// The plots of a plan; what they have in common is in plots.js, which the page has before it.
/* global uPlot, axes, colour, drawAll, overTime, short */

const SERIES_COLOURS = 4;
/** Where a logarithmic axis begins: it has no zero. */
const LEAST_SECONDS = 0.01;

function ofPlan(plan, label, key, index) {
  return {
    label,
    at: plan.series.atSeconds,
    values: plan.series[key],
    colour: `series-${(index % SERIES_COLOURS) + 1}`,
    dash: index < SERIES_COLOURS ? undefined : [6, 4],
  };
}

/** One plan is shown in detail; of several, each plot has one line a plan. */
const PLOTS = {
  load({ plans }) {
    const [first] = plans;
    const load = {
      label: 'load',
      at: first.series.atSeconds,
      values: first.series.load,
      colour: 'quiet',
      fill: true,
    };
    const capacity = plans.map((plan, index) =>
      ofPlan(plan, plans.length === 1 ? 'capacity' : plan.label, 'capacity', index),
    );
    return overTime('', [load, ...capacity]);
  },
  workers({ plans }) {
    const [first] = plans;
    if (plans.length > 1)
      return overTime(
        '',
        plans.map((plan, index) => ofPlan(plan, plan.label, 'hot', index)),
      );
    return overTime(
      '',
      ['hot', 'cold', 'starting'].map((key, index) => ofPlan(first, key, key, index)),
    );
  },
  queue({ plans }) {
    const [first] = plans;
    if (plans.length > 1)
      return overTime(
        ' s',
        plans.map((plan, index) => ofPlan(plan, plan.label, 'queueP99', index)),
      );
    return overTime(
      ' s',
      ['p50', 'p95', 'p99'].map((key, index) => ofPlan(first, key, `queueP${key.slice(1)}`, index)),
    );
  },
  cost({ plans }) {
    return overTime(
      '',
      plans.map((plan, index) => ofPlan(plan, plans.length === 1 ? 'cost' : plan.label, 'cost', index)),
    );
  },
  frontier({ search }) {
    const points = search.points.toSorted((one, other) => one[0] - other[0]);
    const seconds = (value) => (value === null ? null : Math.max(LEAST_SECONDS, value));
    const [x, y] = axes(' s', true);
    x.values = (_, splits) => splits.map((value) => short(value));
    const dots = (name, size) => ({ show: true, size, stroke: colour(name), fill: colour(name), width: 0 });
    const value = (_, wait, __, index) =>
      index === null || wait === null ? '' : `${short(points[index][1])} s`;
    const line = { paths: uPlot.paths.stepped({ align: 1 }), spanGaps: true, width: 1.5 };
    return {
      options: {
        scales: { x: { time: false }, y: { distr: 3, log: 10 } },
        axes: [x, y],
        series: [
          { label: 'cost', value: (_, cost) => (cost === null ? '' : `cost ${short(cost)}`) },
          {
            label: 'p99 of a set tried',
            stroke: colour('quiet'),
            paths: () => null,
            points: dots('faint', 4),
            value,
          },
          {
            label: 'that no other beats',
            stroke: colour('series-1'),
            ...line,
            points: dots('series-1', 7),
            value,
          },
          ...(search.limit === null
            ? []
            : [
                {
                  label: 'wanted',
                  stroke: colour('series-3'),
                  width: 1.5,
                  dash: [6, 4],
                  points: { show: false },
                  value: () => `${short(search.limit)} s`,
                },
              ]),
          ...(search.best === null
            ? []
            : [
                {
                  label: 'cheapest',
                  stroke: colour('series-2'),
                  paths: () => null,
                  points: dots('series-2', 12),
                  value,
                },
              ]),
        ],
      },
      values: [
        points.map(([cost]) => cost),
        points.map(([, wait]) => seconds(wait)),
        points.map(([, wait, onFrontier]) => (onFrontier ? seconds(wait) : null)),
        ...(search.limit === null ? [] : [points.map(() => seconds(search.limit))]),
        ...(search.best === null
          ? []
          : [
              points.map(([cost, wait]) =>
                cost === search.best[0] && wait === search.best[1] ? seconds(wait) : null,
              ),
            ]),
      ],
    };
  },
};

drawAll(PLOTS);
