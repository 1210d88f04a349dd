/**
 * Intl as node-cron uses it, for times in the zone of this machine. The bundler gives it this one: Date knows that zone
 * too, and Intl would load 6 MB of its data about all others. Another zone is left to Intl.
 */
type Part = Pick<Intl.DateTimeFormatPart, 'type' | 'value'>;

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

class DateTimeFormat {
  readonly #options: Intl.DateTimeFormatOptions;
  readonly #elsewhere: Intl.DateTimeFormat | undefined;

  constructor(locale: string, options: Intl.DateTimeFormatOptions) {
    this.#options = options;
    if (options.timeZone !== undefined) this.#elsewhere = new globalThis.Intl.DateTimeFormat(locale, options);
  }

  formatToParts(date: Date): readonly Part[] {
    if (this.#elsewhere) return this.#elsewhere.formatToParts(date);
    if (this.#options.timeZoneName) return [{ type: 'timeZoneName', value: offset(date) }];
    return [
      { type: 'weekday', value: WEEKDAYS[date.getDay()] ?? '' },
      { type: 'year', value: String(date.getFullYear()) },
      { type: 'month', value: twoDigits(date.getMonth() + 1) },
      { type: 'day', value: twoDigits(date.getDate()) },
      { type: 'hour', value: twoDigits(date.getHours()) },
      { type: 'minute', value: twoDigits(date.getMinutes()) },
      { type: 'second', value: twoDigits(date.getSeconds()) },
    ];
  }
}

/** `GMT`, `GMT+1`, `GMT-3:30`. */
function offset(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  if (minutes === 0) return 'GMT';
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `GMT${minutes < 0 ? '-' : '+'}${hours}${rest === 0 ? '' : `:${twoDigits(rest)}`}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

const localIntl = { DateTimeFormat };
export { localIntl as Intl };
