import { ago, byId, cards, element, errorNote, facts, heading, plainList } from '../status-dom.js';
import { counted, findingInWords, plural, printable, seconds, short } from '../status-words.js';
import { followHistory } from './history.js';
import { drawSpend, spendPerHour } from './spend.js';
import { driftInWords, endpointTone, namedTroubles } from './verdict.js';

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
