/** Times in a trace: numbers in a unit that is given, or dates as ISO 8601 writes them. */

export const TIME_UNITS = { s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9 } as const;
export type TimeUnit = keyof typeof TIME_UNITS;

const UNIT_IN_NAME = /_(s|ms|us|ns)$/i;
/** Epoch times of the years 1973 to 5138 in the unit; as seconds they would be thousands of years ahead. */
const EPOCH_FROM = [
  [1e17, 'ns'],
  [1e14, 'us'],
  [1e11, 'ms'],
] as const;

/** The unit of a column of plain numbers: what its name says (`timestamp_ms`), else what its first value must be. */
export function timeUnitOf(column: string, first: string): TimeUnit {
  const named = UNIT_IN_NAME.exec(column)?.[1]?.toLowerCase();
  if (named !== undefined) return named as TimeUnit;
  return EPOCH_FROM.find(([from]) => Number(first) >= from)?.[1] ?? 's';
}

/** `2023-11-16 18:15:46.6805900`, with T and a zone or without; without a zone it is UTC. */
const DATE =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?\s*(?:(Z|UTC)|([+-])(\d\d):?(\d\d))?$/;

/** Seconds since some epoch; NaN for what is not a time. A present-day date is exact to a microsecond. */
export function parseTime(text: string, unit: TimeUnit): number {
  const trimmed = text.trim();
  const number = trimmed === '' ? Number.NaN : Number(trimmed);
  if (Number.isFinite(number)) return number * TIME_UNITS[unit];
  const date = DATE.exec(trimmed);
  if (!date) return Number.NaN;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = date.slice(1, 7).map(Number);
  const [, , , , , , , fraction = '', , sign = '+', offsetHours = '0', offsetMinutes = '0'] = date;
  const whole = Date.UTC(year, month - 1, day, hour, minute, second);
  // Date.UTC lets the 31st of February through as a day in March.
  if (new Date(whole).getUTCDate() !== day || month > 12 || hour > 24) return Number.NaN;
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60 * (sign === '-' ? -1 : 1);
  return whole / 1000 + Number(`0.${fraction}0`) - offset;
}
