import { ago, byId, cards, element, errorNote, facts, heading } from './status-dom.js';
import { counted, logName, lostLines, plural, printable, seconds } from './status-words.js';

const HIDDEN =
  'Lines are not shown to everybody. PILOTLIGHT_METRICS_TOKEN shows them to those who have it, PILOTLIGHT_PUBLIC_STATUS=true to all.';

export function drawLogs({
  worker_groups: groups,
  endpoint_logs: endpoints,
  log_lines_shown: linesShown,
  replica,
}) {
  const { role, last_error: error } = replica;
  const logs = [...groups, ...endpoints];
  const shown = cards(byId('logs'), logs, {
    key: (log) => log.workergroup_id ?? `endpoint ${log.endpoint_id}`,
    label: logName,
    tone: (log) => (log.last_error ? 'warn' : 'good'),
    draw: logCard,
    none:
      role === 'standby'
        ? orTrouble('Another replica follows the logs.', error)
        : 'None configured (PILOTLIGHT_WORKER_GROUPS, PILOTLIGHT_ENDPOINT_LOGS).',
  });
  for (const [index, card] of shown.entries()) drawLines(card, logs[index], linesShown);
}

/** Without Redis the leader is unknown. */
function orTrouble(otherwise, error) {
  return error ? printable(error) : otherwise;
}

function logCard(log) {
  const gaps = counted(log.gaps);
  const rate = log.lines_per_second;
  return [
    heading(
      logName(log),
      log.last_error || gaps ? 'warn' : 'good',
      log.last_error ? 'failing' : gaps ? 'gaps' : 'no gaps',
    ),
    element(
      'p',
      { class: 'large' },
      rate < 10 ? rate.toFixed(1) : Math.round(rate).toLocaleString('en'),
      element('small', {}, ` lines/s, ${plural(log.lines, 'line')} in all`),
    ),
    facts(
      ['Last line', ago(log.last_line_at)],
      ['Polled', `every ${seconds(log.poll_interval_seconds)}`],
      ...(gaps ? [['Gaps', `${gaps}; ${lostLines(log)}`]] : []),
    ),
    ...errorNote(log.last_error),
  ];
}

/** Scrolls to the newest line unless the reader has scrolled up. */
function drawLines(card, log, linesShown) {
  let pre = card.querySelector('pre');
  if (!pre) {
    pre = element('pre', {
      'data-keep': '',
      tabindex: '0',
      role: 'region',
      'aria-label': `Last lines of ${logName(log)}`,
    });
    card.append(pre);
  }
  const none = linesShown ? 'No line yet.' : HIDDEN;
  const text = log.last_lines.map((line) => printable(line)).join('\n') || none;
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
    heading(`Log sink ${sink.sink}`, sinkTone(sink), word),
    facts(
      ['Waiting', plural(sink.lag_lines, 'record')],
      ['Delivered', plural(sink.delivered_lines, 'record')],
      ...(dropped ? [['Dropped', dropped]] : []),
      ['Kept', durable === null ? 'in memory' : durable ? 'durably' : 'in memory, for now'],
    ),
    ...errorNote(sink.last_error),
  ];
}
