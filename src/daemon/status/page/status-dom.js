// Text of the service and of logs reaches the page only through textContent and attributes, never as markup.
import { printable } from './status-words.js';

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
      const leave = placeIn(card);
      while (card.firstChild && card.firstChild !== kept) card.firstChild.remove();
      card.prepend(...draw(item));
      leave();
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

/** Returns a function that opens the same details again, and restores the focus. */
function placeIn(card) {
  const summaries = () => [...card.querySelectorAll('summary')];
  const open = new Set(summaries().flatMap((one) => (one.parentElement.open ? [one.textContent] : [])));
  const at = summaries().find((one) => one === document.activeElement)?.textContent;
  return () => {
    for (const one of summaries()) {
      if (open.has(one.textContent)) one.parentElement.open = true;
      if (one.textContent === at) one.focus({ preventScroll: true });
    }
  };
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
