import { byId, cards, element, errorNote, facts } from '../status-dom.js';
import { plural, printable } from '../status-words.js';

export function spendPerHour({ spend_told_per_hour: told, spend_per_hour: estimated }) {
  return told ?? estimated;
}

export function drawSpend(fleet) {
  byId('spend-section').hidden = fleet.endpoints.length === 0;
  cards(byId('spend'), fleet.endpoints.length === 0 ? [] : [fleet], {
    key: () => 'spend',
    label: () => 'What the endpoints cost',
    tone: () => (isAboveBudget(fleet) ? 'warn' : 'good'),
    draw,
    state: (shown) => [ofEndpoints(shown), together(shown), shown.spend_unanswered],
    none: '',
  });
}

function draw(fleet) {
  return [
    element('p', { class: 'name' }, 'In dollars, by UTC days'),
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
      `${rate} an hour; ${figure(today)} today; ${figure(month)} this month`,
    ];
  });
}

function together(fleet) {
  const { endpoints, spend_month: month, spend_month_forecast: forecast, budget_per_month: budget } = fleet;
  const { orphan_instances: orphans, orphan_spend_per_hour: wasted } = fleet;
  const above = isAboveBudget(fleet) ? `, above the budget of ${dollars(budget)}` : '';
  return [
    ['This month', `${figure(month)}; ${dollars(forecast)} at its end${above}`],
    ['Ready, without requests', `${dollars(sumOf(endpoints, 'spend_idle_per_hour'))} an hour`],
    ['Loading and starting', `${dollars(sumOf(endpoints, 'spend_starting_per_hour'))} an hour`],
    [
      'Without a worker',
      orphans === null ? 'not known' : `${plural(orphans, 'instance')}, ${dollars(wasted)} an hour`,
    ],
  ];
}

export function isAboveBudget({
  spend_month: month,
  spend_month_forecast: forecast,
  budget_per_month: budget,
}) {
  return budget !== null && (forecast ?? month?.amount ?? 0) > budget;
}

function sumOf(endpoints, field) {
  return endpoints.some((endpoint) => endpoint[field] === null)
    ? null
    : endpoints.reduce((sum, endpoint) => sum + endpoint[field], 0);
}

function figure(known) {
  return known === null ? 'not known' : dollars(known.amount, known.source);
}

function dollars(amount, source) {
  if (amount === null) return 'not known';
  return source === undefined ? amount.toFixed(2) : `${amount.toFixed(2)} (${source})`;
}
