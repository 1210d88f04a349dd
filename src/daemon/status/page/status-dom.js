// Text of the service and of logs reaches the page only through textContent and attributes, never as markup.
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export function byId(id) {
  return document.getElementById(id);
}

/** An unchanged card, and what is under `data-keep`, stays untouched: a reader keeps focus and place. */
export function cards(container, items, { key, label, tone, draw, none, state: stateOf = (item) => item }) {
  const before = new Map([...container.children].map((card) => [card.dataset.key, card]));
  const wanted = items.map((item) => {
    const card = before.get(String(key(item))) ?? element('article', { 'data-key': String(key(item)) });
    const state = JSON.stringify(stateOf(item), (_, value) =>
      typeof value === 'number' ? Math.round(value) : value,
    );
    if (card.dataset.state !== state) {
      card.dataset.state = state;
      card.className = `card ${tone(item)}`;
      card.setAttribute('aria-label', label(item));
      // replaceChildren would lose focus and place.
      const kept = card.querySelector('[data-keep]');
      while (card.firstChild && card.firstChild !== kept) card.firstChild.remove();
      card.prepend(...draw(item));
    }
    return card;
  });
  const shown = wanted.length > 0 ? wanted : [quiet(none)];
  const same =
    shown.length === container.children.length &&
    shown.every((card, index) => card === container.children[index]);
  if (!same) container.replaceChildren(...shown);
  return wanted;
}

export function heading(name, tone, word) {
  const pill = element('span', { class: `pill ${tone}` }, word);
  return element('div', { class: 'row' }, element('span', { class: 'name' }, name), pill);
}

export function errorNote(error) {
  return error ? [element('p', { class: 'note warn' }, printable(error))] : [];
}

export function quiet(text) {
  return element('p', { class: 'quiet' }, text);
}

export function plainList(lines) {
  return element('ul', { class: 'plain' }, ...lines.map((line) => element('li', {}, printable(line))));
}

export function facts(...pairs) {
  return element(
    'dl',
    { class: 'facts' },
    ...pairs.flatMap(([term, value]) => [element('dt', {}, term), element('dd', {}, value)]),
  );
}

/** `drawMoving` keeps the text current. */
export function ago(at) {
  return at === null ? 'never' : element('span', { 'data-ago': String(at) });
}

// Words and figures.

export function seconds(value) {
  if (value === null || value === undefined) return '—';
  const size = Math.abs(value);
  if (size < 10) return `${value.toFixed(1)} s`;
  if (size < 120) return `${Math.round(value)} s`;
  if (size < 5400) return `${Math.round(value / 60)} min`;
  if (size < 48 * 3600) return `${(value / 3600).toFixed(1)} h`;
  return `${Math.round(value / 86_400)} days`;
}

/** Three digits, or all before the point: 0.0354, 1.23, 45.6, 19,366. */
export function short(value) {
  if (value === null || value === undefined) return '—';
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

export function plural(count, noun) {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** `42`, `square (42)` */
export function deploymentName({ deployment, deployment_id: id }) {
  return deployment === null ? String(id) : printable(`${deployment} (${id})`);
}

export function logName({ workergroup_id: group, endpoint_group: endpoint }) {
  return group === undefined ? printable(`Endpoint ${endpoint}`) : `Worker group ${group}`;
}

export function lostLines({ lost_lines_estimate: lost, unknown_gaps: unknown }) {
  if (unknown === 0) return `about ${plural(lost, 'line')} lost`;
  return lost === 0 ? 'how many lines were lost is unknown' : `at least about ${plural(lost, 'line')} lost`;
}

export function clockTime(at) {
  return new Date(at * 1000).toLocaleTimeString();
}

/** `2 overrun, 1 reset`; empty if all are zero. */
export function counted(reasons) {
  return Object.entries(reasons)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(', ');
}

/** `1 error, 2 warnings`; empty without any. */
export function findingsInWords(findings) {
  return ['error', 'warning']
    .map((severity) => [findings.filter((finding) => finding.severity === severity).length, severity])
    .filter(([count]) => count > 0)
    .map(([count, severity]) => plural(count, severity))
    .join(', ');
}

export function findingInWords({ parameter, got, allowed, message }) {
  const has = got === undefined || got === null ? 'not set' : JSON.stringify(got);
  const wish = allowed.startsWith('advised') ? allowed : `allowed: ${allowed}`;
  return `${parameter} is ${has}; ${wish}: ${message}`;
}

/** Removes colours and control characters; delivered lines keep them. */
export function printable(line) {
  // A progress bar overwrites itself: a terminal shows its last state.
  const shown = line.split('\r').findLast((part) => part !== '') ?? '';
  return shown
    .replaceAll(/\u001B\[[\d;?]*[A-Za-z]/g, '')
    .replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g, '·');
}
