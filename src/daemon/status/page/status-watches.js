// Endpoint groups, and what the scheduled jobs saw: maintenance, instances, the account.
import { ago, byId, cards, element, facts } from './status-dom.js';
import { endpointGroupTone, isImminent } from './status-verdict.js';
import { findingInWords, findingsInWords, plural, printable } from './status-words.js';

export function drawEndpointGroups(groups) {
  cards(byId('endpoint-groups'), groups, {
    key: (group) => group.endpoint_group,
    label: (group) => `Endpoint group ${group.endpoint_group}`,
    tone: endpointGroupTone,
    none: 'None configured (PILOTLIGHT_ENDPOINT_GROUPS).',
    draw(group) {
      const found = group.findings.filter(({ severity }) => severity !== 'note');
      return [
        element(
          'div',
          { class: 'row' },
          element('span', { class: 'name' }, group.endpoint_group),
          element(
            'span',
            { class: `pill ${endpointGroupTone(group)}` },
            findingsInWords(group.findings) || 'parameters fine',
          ),
        ),
        ...(found.length > 0
          ? [
              element(
                'ul',
                { class: 'plain' },
                ...found.map((finding) => element('li', {}, printable(findingInWords(finding)))),
              ),
            ]
          : []),
      ];
    },
  });
}

export function drawWatches({ maintenance_windows: windows, instances, account, jobs }, now) {
  const items = [
    { title: 'Maintenance', windows },
    { title: 'Instances', instances },
    { title: 'Account', account },
    { title: 'Jobs', jobs },
  ];
  cards(byId('watches'), items, {
    key: ({ title }) => title,
    label: ({ title }) => title,
    tone: () => 'good',
    none: '',
    draw: (item) => [element('p', { class: 'name' }, item.title), ...watchBody(item, now)],
  });
}

function watchBody(item, now) {
  if (item.windows) return maintenance(item.windows, now);
  if (item.instances) return instanceCounts(item.instances);
  if (item.jobs) return [facts(...item.jobs.map(jobFact))];
  const { account } = item;
  if (!account) return [element('p', { class: 'quiet' }, 'Not looked at yet.')];
  return [
    facts(
      ['Two-factor', account.tfa_enabled ? 'on' : 'off'],
      [
        'Backup codes',
        account.backup_codes_remaining === null ? 'not known' : String(account.backup_codes_remaining),
      ],
      ['Locked methods', String(account.locked_methods)],
    ),
  ];
}

function maintenance(windows, now) {
  if (windows.length === 0) return [element('p', { class: 'quiet' }, 'No window known.')];
  return windows.map((window) =>
    element(
      'p',
      { class: `note ${isImminent(window, now) ? 'warn' : ''}` },
      `Machine ${window.machine_id}, ${window.category}: `,
      ...(window.starts_at > now
        ? ['in ', element('span', { 'data-until': String(window.starts_at) })]
        : ['under way']),
      window.ends_at === null
        ? ''
        : `, until ${new Date(window.ends_at * 1000).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })}`,
    ),
  );
}

function instanceCounts(instances) {
  const present = Object.entries(instances).filter(([, count]) => count > 0);
  if (present.length === 0) return [element('p', { class: 'quiet' }, 'None.')];
  return [facts(...present.map(([state, count]) => [state, String(count)]))];
}

function jobFact({ job, schedule, failures, last_success_at: success, last_error: error }) {
  if (schedule === 'off') return [job, 'off'];
  const words = element('span', {}, success === null ? 'no success yet' : 'succeeded ');
  if (success !== null) words.append(ago(success));
  if (error) words.append(`; last failure: ${error}`);
  else if (failures > 0) words.append(`, ${plural(failures, 'failure')} before`);
  return [job, words];
}
