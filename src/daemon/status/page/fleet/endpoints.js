// Endpoints: what is asked of each, what its workers can do, what they cost; and two plots of the last hours.
import { ago, byId, cards, element, errorNote, facts, heading, plainList } from '../status-dom.js';
import { findingInWords, findingsInWords, plural, printable, short } from '../status-words.js';
import { followHistory } from './history.js';
import { drawSpend, spendPerHour } from './spend.js';
import { driftInWords, endpointTone } from './verdict.js';

let follow;

export function drawEndpoints(fleet, now) {
  const shown = cards(byId('endpoints'), fleet.endpoints, {
    key: (endpoint) => endpoint.endpoint_group,
    label: (endpoint) => printable(`Endpoint ${endpoint.endpoint_group}`),
    tone: (endpoint) => `endpoint ${endpointTone(endpoint, fleet, now)}`,
    draw: (endpoint) => [about(endpoint, endpointTone(endpoint, fleet, now))],
    // Loads and prices may be small: what is shown of them decides whether a card has changed.
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
    element(
      'p',
      { class: 'large' },
      short(endpoint.load),
      element('small', {}, ` asked of ${short(endpoint.capacity_hot)} units/s`),
    ),
    facts(...figures(endpoint), ['Seen', ago(endpoint.last_sample_at)]),
    ...errorNote(error),
    ...list('Not as configured', drift.map(driftInWords)),
    ...list(`Its parameters: ${findingsInWords(findings)}`, spoken.map(findingInWords)),
  );
}

function figures(endpoint) {
  const { workers, capacity_cold: cold, requests_working: requests } = endpoint;
  const spend = spendPerHour(endpoint);
  return [
    ['Price', spend === null ? 'not known' : `${spend.toFixed(2)} an hour`],
    ['Workers', workers === null ? 'not known' : (workersInWords(workers) ?? 'none')],
    ['Stopped ones', cold === null ? 'not known' : `${short(cold)} units/s more`],
    ['Requests', requests === null ? 'not known' : `${plural(requests, 'request')} at work`],
  ];
}

function list(title, lines) {
  return lines.length === 0 ? [] : [...errorNote(title), plainList(lines)];
}

/** `6 idle, 2 loading`; undefined: none. */
function workersInWords(workers) {
  const present = Object.entries(workers).filter(([, count]) => count > 0);
  return present.length === 0
    ? undefined
    : present.map(([status, count]) => `${count} ${status.replaceAll('_', ' ')}`).join(', ');
}
