/** The time that stands in a log line. Each program writes its own form, some without a year, most without a zone. */

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAY_MS = 86_400_000;

const ISO = /\b(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?/;
/** `10-08 09:15:02`, as vLLM has it. */
const WITHOUT_YEAR = /\b(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)\b/;
/** `Nov 27 08:00:12`, as syslog has it. */
const SYSLOG = /\b([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d)\b/;
/** `1790000000.123[456]`, as the engine has it; or in milliseconds. */
const EPOCH = /^\D{0,2}(\d{10})(?:(\d{3})|\.(\d{3}))\b/;
/** Of a line: a time further on is of what it tells, and not of the line. */
const BEGINNING = 80;

/** Unix milliseconds, undefined if there is none. A time without a zone counts as UTC, without a year as the last one. */
export function timeOfLine(line: string, nowMs: number): number | undefined {
  const text = line.slice(0, BEGINNING);
  const epoch = EPOCH.exec(text);
  if (epoch) return Number(epoch[1]) * 1_000 + Number(epoch[2] ?? epoch[3]);
  const iso = ISO.exec(text);
  if (iso) {
    const [, year, month, day, hour, minute, second, fraction = '0', zone = 'Z'] = iso;
    return valid(
      Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3)}${zone}`),
    );
  }
  const [, month, day, hour, minute, second] = WITHOUT_YEAR.exec(text) ?? withMonth(SYSLOG.exec(text)) ?? [];
  if (second === undefined) return undefined;
  const year = new Date(nowMs).getUTCFullYear();
  const at = (of: number) =>
    valid(Date.UTC(of, Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)));
  const thisYear = at(year);
  return thisYear !== undefined && thisYear > nowMs + DAY_MS ? at(year - 1) : thisYear;
}

function withMonth(match: RegExpExecArray | null): readonly (string | undefined)[] | undefined {
  const month = MONTHS.indexOf(match?.[1]?.toLowerCase() ?? '') + 1;
  return match && month > 0 ? [match[0], String(month), ...match.slice(2)] : undefined;
}

function valid(ms: number): number | undefined {
  return Number.isNaN(ms) ? undefined : ms;
}
