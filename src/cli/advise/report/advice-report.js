// The plots of an advice; what they have in common is in plots.js, which the page has before it.
/* global drawAll, overTime */

/** One line of the backtest: what was recorded, or what the model makes of it, an hour each. */
function hourly({ hours }, who, key, look) {
  const at = [];
  const values = [];
  for (const hour of hours) {
    const end = hour.at + hour.seconds;
    // A step an hour, and nothing over a hole.
    if (at.length > 0 && hour.at - at.at(-1) > 60) {
      at.push(at.at(-1) + 1);
      values.push(null);
    }
    at.push(hour.at, end - 0.5);
    values.push(hour[who][key], hour[who][key]);
  }
  return { label: who, at, values, ...look };
}

function recordedAndPredicted(backtest, key) {
  return overTime(
    '',
    [
      hourly(backtest, 'recorded', key, { colour: 'quiet', fill: true }),
      hourly(backtest, 'predicted', key, { colour: 'series-2', dash: [6, 4] }),
    ],
    false,
  );
}

function bothSets({ series }, key, unit = '') {
  return overTime(
    unit,
    ['today', 'best'].map((set, index) => ({
      label: set === 'best' ? 'advised' : set,
      at: series[set].atSeconds,
      values: series[set][key],
      colour: `series-${index + 1}`,
    })),
  );
}

drawAll({
  'backtest-hot': ({ backtest }) => recordedAndPredicted(backtest, 'hot'),
  'backtest-cost': ({ backtest }) => recordedAndPredicted(backtest, 'costPerHour'),
  load({ series }) {
    const { atSeconds, load } = series.today;
    const capacity = ['today', 'best'].map((set, index) => ({
      label: set === 'best' ? 'advised' : set,
      at: series[set].atSeconds,
      values: series[set].capacity,
      colour: `series-${index + 1}`,
    }));
    return overTime('', [
      { label: 'load', at: atSeconds, values: load, colour: 'quiet', fill: true },
      ...capacity,
    ]);
  },
  hot: (data) => bothSets(data, 'hot'),
  queue: (data) => bothSets(data, 'queueP99', ' s'),
  cost: (data) => bothSets(data, 'cost'),
});
