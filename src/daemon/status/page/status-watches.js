// Parameters of endpoints, and what the scheduled jobs saw: maintenance, instances, the account.
import { ago, byId, cards, element, facts, heading, plainList, quiet } from './status-dom.js';
import { endpointGroupTone, isImminent } from './status-verdict.js';
import { findingInWords, findingsInWords, plural } from './status-words.js';

export function drawEndpointGroups(groups) {
  cards(byId('endpoint-groups'), groups, {
    key: (group) => group.endpoint_group,
    label: (group) => `Endpoint group ${group.endpoint_group}`,
    tone: endpointGroupTone,
    none: 'None configured (PILOTLIGHT_ENDPOINT_GROUPS).',
    draw(group) {
      const { endpoint_group: name, findings } = group;
      const found = findings.filter(({ severity }) => severity !== 'note').map(findingInWords);
      const first = heading(name, endpointGroupTone(group), findingsInWords(findings) || 'parameters fine');
      return found.length > 0 ? [first, plainList(found)] : [first];
    },
  });
}

export function drawWatches({ maintenance_windows: windows, instances, account, jobs, service }, now) {
  const items = [
    { title: 'Maintenance', seen: windows, body: () => maintenance(windows, now) },
    { title: 'Instances', seen: instances, body: () => instanceCounts(instances) },
    { title: 'Account', seen: account, body: () => accountFacts(account) },
    { title: 'Jobs', seen: jobs, body: () => [facts(...jobs.map(jobFact))] },
    { title: 'Service', seen: service.traits, body: () => serviceTraits(service.traits) },
  ];
  cards(byId('watches'), items, {
    key: ({ title }) => title,
    label: ({ title }) => title,
    tone: ({ seen }) => (seen === service.traits && seen.some(isBroken) ? 'bad' : 'good'),
    none: '',
    draw: ({ title, body }) => [element('p', { class: 'name' }, title), ...body()],
  });
}

function isBroken({ verdict }) {
  return verdict === 'broken';
}

/** How the service behaves, what is otherwise than the interface says first. */
function serviceTraits(traits) {
  if (traits.length === 0) return [quiet('No answer has told yet how it behaves.')];
  const [unlike, like] = [false, true].map((isFine) =>
    traits.filter(({ verdict }) => (verdict === 'fine') === isFine).map(({ says }) => says),
  );
  return [plainList([...unlike, ...like])];
}

function accountFacts(account) {
  if (!account) return [quiet('Not looked at yet.')];
  const { tfa_enabled: isOn, backup_codes_remaining: codes, locked_methods: locked } = account;
  return [
    facts(
      ['Two-factor', isOn ? 'on' : 'off'],
      ['Backup codes', String(codes ?? 'not known')],
      ['Locked methods', String(locked)],
    ),
  ];
}

function maintenance(windows, now) {
  if (windows.length === 0) return [quiet('No window known.')];
  return windows.map((window) => {
    const { machine_id: machine, category, starts_at: start, ends_at: end } = window;
    const when = start > now ? ['in ', element('span', { 'data-until': String(start) })] : ['under way'];
    const tone = isImminent(window, now) ? 'warn' : '';
    return element('p', { class: `note ${tone}` }, `Machine ${machine}, ${category}: `, ...when, until(end));
  });
}

function until(end) {
  if (end === null) return '';
  return `, until ${new Date(end * 1000).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })}`;
}

function instanceCounts(instances) {
  const present = Object.entries(instances).filter(([, count]) => count > 0);
  if (present.length === 0) return [quiet('None.')];
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
