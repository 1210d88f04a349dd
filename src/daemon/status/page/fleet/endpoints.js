import { ago, byId, cards, element, errorNote, facts, heading, plainList } from '../status-dom.js';
import { counted, findingInWords, plural, printable, seconds, short } from '../status-words.js';
import { followHistory } from './history.js';
import { driftInWords, endpointTone, isAboveBudget, namedTroubles, spendPerHour } from './troubles.js';

let follow;

export function drawEndpoints(fleet, now) {
  const shown = cards(byId('endpoints'), fleet.endpoints, {
    key: (endpoint) => endpoint.endpoint_group,
    label: (endpoint) => printable(`Endpoint ${endpoint.endpoint_group}`),
    tone: (endpoint) => `endpoint ${endpointTone(endpoint, fleet, now)}`,
    draw: (endpoint) => [about(endpoint, endpointTone(endpoint, fleet, now))],
    // Loads and prices may be small, so their text decides whether a card has changed.
    state: (endpoint) => [endpoint, figures(endpoint), endpointTone(endpoint, fleet, now)],
    none: '',
  });
  for (const [index, card] of shown.entries()) {
    if (card.querySelector('[data-keep]')) continue;
    card.append(element('div', { class: 'plots', 'data-keep': '' }));
    const { endpoint_group: name } = fleet.endpoints[index];
    card.dataset.endpoint = name;
  }
  drawSpend(fleet);
  follow ??= followHistory(byId('endpoints'), byId('endpoints-range'));
  follow(fleet);
}

function about(endpoint, tone) {
  const { drift, findings, last_error: error } = endpoint;
  const spoken = findings.filter(({ severity }) => severity !== 'note');
  return element(
    'div',
    { class: 'about' },
    heading(
      printable(endpoint.endpoint_group),
      endpoint.state === null ? 'quiet' : tone,
      printable(endpoint.state ?? 'not seen yet'),
    ),
    largest(endpoint),
    facts(...figures(endpoint), ['Seen', ago(endpoint.last_sample_at)]),
    ...errorNote(error),
    ...list('What is wrong', [
      ...namedTroubles(endpoint).map(([, text]) => printable(text.replace(/^[ :]+/, ''))),
      ...drift.map((each) => `Not as configured: ${driftInWords(each)}`),
      ...spoken.map(findingInWords),
    ]),
  );
}

function largest({ load, load_in_flight: inFlight, requests_working: requests, capacity_hot: ready }) {
  const large = (figure, words) =>
    element('p', { class: 'large' }, short(figure), element('small', {}, words));
  if (load !== null) return large(load, ` asked of ${short(ready)} units/s`);
  if (inFlight === null) return large(requests, ' requests at work');
  return large(inFlight, ` units in flight${ready > 0 ? `, ${seconds(inFlight / ready)} of work` : ''}`);
}

function figures(endpoint) {
  const { workers, capacity_cold: cold, requests_working: requests, ...more } = endpoint;
  const spend = spendPerHour(endpoint);
  return [
    ['Meaning of load', `${more.load_meaning}: ${more.load_because}`],
    ['Price', spend === null ? 'not known' : `${spend.toFixed(2)} an hour`],
    ['Workers', workers === null ? 'not known' : counted(workers).replaceAll('_', ' ') || 'none'],
    ['Stopped ones', cold === null ? 'not known' : `${short(cold)} units/s more`],
    ['Requests', requests === null ? 'not known' : `${plural(requests, 'request')} at work`],
  ];
}

function list(title, lines) {
  return lines.length === 0 ? [] : [...errorNote(title), plainList(lines)];
}

function drawSpend(fleet) {
  byId('spend-section').hidden = fleet.endpoints.length === 0;
  cards(byId('spend'), fleet.endpoints.length === 0 ? [] : [fleet], {
    key: () => 'spend',
    label: () => 'What the endpoints cost',
    tone: () => (isAboveBudget(fleet) ? 'warn' : 'good'),
    draw: spendFacts,
    state: (shown) => [ofEndpoints(shown), together(shown), shown.spend_unanswered],
    none: '',
  });
}

function spendFacts(fleet) {
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
      `${rate} an hour; ${figureInWords(today)} today; ${figureInWords(month)} this month`,
    ];
  });
}

function together(fleet) {
  const { endpoints, spend_month: month, spend_month_forecast: forecast, budget_per_month: budget } = fleet;
  const { orphan_instances: orphans, orphan_spend_per_hour: wasted } = fleet;
  const above = isAboveBudget(fleet) ? `, above the budget of ${dollars(budget)}` : '';
  return [
    ['This month', `${figureInWords(month)}; ${dollars(forecast)} at its end${above}`],
    ['Ready, without requests', `${dollars(sumOf(endpoints, 'spend_idle_per_hour'))} an hour`],
    ['Loading and starting', `${dollars(sumOf(endpoints, 'spend_starting_per_hour'))} an hour`],
    [
      'Without a worker',
      orphans === null ? 'not known' : `${plural(orphans, 'instance')}, ${dollars(wasted)} an hour`,
    ],
  ];
}

function sumOf(endpoints, field) {
  return endpoints.some((endpoint) => endpoint[field] === null)
    ? null
    : endpoints.reduce((sum, endpoint) => sum + endpoint[field], 0);
}

function figureInWords(known) {
  return known === null ? 'not known' : dollars(known.amount, known.source);
}

function dollars(amount, source) {
  if (amount === null) return 'not known';
  return source === undefined ? amount.toFixed(2) : `${amount.toFixed(2)} (${source})`;
}
