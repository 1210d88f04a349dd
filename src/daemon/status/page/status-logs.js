// Worker groups: the rate, the gaps and the last lines of each log; and the sinks that their lines go to.
import { ago, byId, cards, element, facts } from './status-dom.js';
import { counted, plural, printable, seconds } from './status-words.js';

const HIDDEN =
  'Lines are not shown to everybody. PILOTLIGHT_METRICS_TOKEN shows them to those who have it, PILOTLIGHT_PUBLIC_STATUS=true to all.';

export function drawGroups({ worker_groups: groups, log_lines_shown: linesShown, replica }) {
  const { role, last_error: error } = replica;
  const shown = cards(byId('groups'), groups, {
    key: (group) => group.workergroup_id,
    label: (group) => `Worker group ${group.workergroup_id}`,
    tone: (group) => (group.last_error ? 'warn' : 'good'),
    draw: groupCard,
    none:
      role === 'standby'
        ? orTrouble('Another replica follows the logs.', error)
        : 'None configured (PILOTLIGHT_WORKER_GROUPS).',
  });
  for (const [index, card] of shown.entries()) drawLines(card, groups[index], linesShown);
}

/** Without Redis it is not known who has the logs, if anyone. */
function orTrouble(otherwise, error) {
  return error ? printable(error) : otherwise;
}

function groupCard(group) {
  const gaps = counted(group.gaps);
  const rate = group.lines_per_second;
  return [
    element(
      'div',
      { class: 'row' },
      element('span', { class: 'name' }, `Worker group ${group.workergroup_id}`),
      element(
        'span',
        { class: `pill ${group.last_error ? 'warn' : gaps ? 'warn' : 'good'}` },
        group.last_error ? 'failing' : gaps ? 'gaps' : 'no gaps',
      ),
    ),
    element(
      'p',
      { class: 'large' },
      rate < 10 ? rate.toFixed(1) : Math.round(rate).toLocaleString('en'),
      element('small', {}, ` lines/s, ${plural(group.lines, 'line')} in all`),
    ),
    facts(
      ['Last line', ago(group.last_line_at)],
      ['Polled', `every ${seconds(group.poll_interval_seconds)}`],
      ...(gaps ? [['Gaps', `${gaps}; ${lostLines(group)}`]] : []),
    ),
    ...(group.last_error ? [element('p', { class: 'note warn' }, printable(group.last_error))] : []),
  ];
}

/** The newest lines are shown, unless the reader has scrolled up to look at older ones. */
function drawLines(card, group, linesShown) {
  let pre = card.querySelector('pre');
  if (!pre) {
    pre = element('pre', {
      'data-keep': '',
      tabindex: '0',
      role: 'region',
      'aria-label': `Last lines of worker group ${group.workergroup_id}`,
    });
    card.append(pre);
  }
  const none = linesShown ? 'No line yet.' : HIDDEN;
  const text = group.last_lines.map((line) => printable(line)).join('\n') || none;
  if (pre.textContent === text) return;
  const atEnd = pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 2;
  pre.textContent = text;
  if (atEnd) pre.scrollTop = pre.scrollHeight;
}

export function drawSinks({ sinks, spool_durable: durable, replica: { role, last_error: error } }) {
  cards(byId('sinks'), sinks, {
    key: ({ sink }) => sink,
    label: ({ sink }) => `Log sink ${sink}`,
    tone: sinkTone,
    draw: (sink) => sinkCard(sink, durable),
    none: role === 'standby' ? orTrouble('Another replica delivers the logs.', error) : 'None configured.',
  });
}

function sinkTone({ dropped_lines: dropped, last_error: error }) {
  return counted(dropped) ? 'bad' : error ? 'warn' : 'good';
}

function sinkCard(sink, durable) {
  const dropped = counted(sink.dropped_lines);
  const word = sink.last_error ? 'failing' : dropped ? 'missed lines' : 'delivering';
  return [
    element(
      'div',
      { class: 'row' },
      element('span', { class: 'name' }, `Log sink ${sink.sink}`),
      element('span', { class: `pill ${sinkTone(sink)}` }, word),
    ),
    facts(
      ['Waiting', plural(sink.lag_lines, 'record')],
      ['Delivered', plural(sink.delivered_lines, 'record')],
      ...(dropped ? [['Dropped', dropped]] : []),
      ['Kept', durable === null ? 'in memory' : durable ? 'durably' : 'in memory, for now'],
    ),
    ...(sink.last_error ? [element('p', { class: 'note warn' }, printable(sink.last_error))] : []),
  ];
}

function lostLines({ lost_lines_estimate: lost, unknown_gaps: unknown }) {
  if (unknown === 0) return `about ${plural(lost, 'line')} lost`;
  return lost === 0 ? 'how many lines were lost is unknown' : `at least about ${plural(lost, 'line')} lost`;
}
