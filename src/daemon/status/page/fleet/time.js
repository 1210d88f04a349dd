const DAY = { day: 'numeric', month: 'short' };
/** Shorter plots show seconds. */
const BRIEF = 900;

export function timeInWords(at, span) {
  const time = clockTime(at, span);
  return span <= 86_400 ? time : `${dayOf(at)}, ${time}`;
}

export function axisTime(at, span) {
  return span <= 2 * 86_400 ? clockTime(at, span) : dayOf(at);
}

function clockTime(at, span) {
  const second = span <= BRIEF ? { second: '2-digit' } : {};
  return new Date(at * 1000).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', ...second });
}

function dayOf(at) {
  return new Date(at * 1000).toLocaleDateString('en-GB', DAY);
}
