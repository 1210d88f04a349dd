// Moments as a person reads them, in the time of where they are.
const TIME = { hour: '2-digit', minute: '2-digit' };
const DAY = { day: 'numeric', month: 'short' };

/** A moment of a plot or table of so many seconds. */
export function timeInWords(at, span) {
  const date = new Date(at * 1000);
  const time = date.toLocaleTimeString('en-GB', TIME);
  return span <= 86_400 ? time : `${date.toLocaleDateString('en-GB', DAY)}, ${time}`;
}

/** The same on an axis, where there is less room. */
export function axisTime(at, span) {
  const date = new Date(at * 1000);
  return span <= 2 * 86_400 ? date.toLocaleTimeString('en-GB', TIME) : date.toLocaleDateString('en-GB', DAY);
}
