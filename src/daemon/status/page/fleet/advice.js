// What other parameters of an endpoint would have done, in a sentence.
import { ago, element } from '../status-dom.js';
import { printable } from '../status-words.js';

const TITLES = {
  keep: 'Advice: keep what you have',
  change: 'Advice: change its parameters',
  dearer: 'Advice: what keeps the limit is dearer',
  declined: 'No advice',
};

export function adviceLines(advice) {
  if (advice === null || advice === undefined) return [];
  const { verdict, sentence, at } = advice;
  return [
    element(
      'details',
      { class: 'advice', 'data-advice': verdict },
      element('summary', {}, TITLES[verdict] ?? 'Advice', element('small', { class: 'quiet' }, ' ', ago(at))),
      element('p', { class: 'note' }, printable(sentence)),
    ),
  ];
}
