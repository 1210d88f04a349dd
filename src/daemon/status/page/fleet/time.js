// Moments as a person reads them, in the time of where they are.
const DAY = { day: 'numeric', month: 'short' };
/** Plots of up to so many seconds tell the seconds too. */
const BRIEF = 900;

/** A moment of a plot or table of so many seconds. */
export function timeInWords(at, span) {
  const time = clockTime(at, span);
  return span <= 86_400 ? time : `${dayOf(at)}, ${time}`;
}

/** The same on an axis, where there is less room. */
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
