import { printable } from './status-words.js';

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

/**
 * Draws a card for each item, by its name. It leaves unchanged cards and `data-keep` alone, so a reader keeps focus and
 * place.
 */
export function cards(container, items, { name, tone, word, draw, none, state: stateOf = (item) => item }) {
  const before = new Map([...container.children].map((card) => [card.getAttribute('aria-label'), card]));
  const wanted = items.map((item) => {
    const card = before.get(name(item)) ?? element('article', { 'aria-label': name(item) });
    const state = JSON.stringify(stateOf(item), (_, value) =>
      typeof value === 'number' ? Math.round(value) : value,
    );
    if (card.dataset.state !== state) {
      card.dataset.state = state;
      card.className = `card ${tone(item)}`;
      // replaceChildren would lose focus and place.
      const kept = card.querySelector('[data-keep]');
      while (card.firstChild && card.firstChild !== kept) card.firstChild.remove();
      card.prepend(heading(name(item), word?.(item)), ...draw(item));
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

function heading(name, word) {
  const pill = word === undefined ? '' : element('span', { class: 'pill' }, word);
  return element('div', { class: 'row' }, element('span', { class: 'name' }, name), pill);
}

export function note(tone, ...words) {
  return element('p', { class: `note ${tone}` }, ...words);
}

export function errorNote(error) {
  return error ? [note('warn', printable(error))] : [];
}

export function quiet(text) {
  return element('p', { class: 'quiet' }, text);
}

export function plainList(lines) {
  if (lines.length === 0) return '';
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
