/** The journal in words, for people: of each change when, what, why, what was expected, and what came of it. Pure. */
import { inOneLine } from '../../contract/text/controls.ts';
import type { AdvisedParameter, Estimate } from '../advice/advice.ts';
import type { Limit } from './reach.ts';
import { IGNORED } from './settle.ts';
import type { Change, Experience, Expectation } from './state.ts';

export interface Story {
  /** Unix ms. */
  readonly atMs: number;
  /** `target_util 0.9 → 0.82, cold_workers 5 → 4`. */
  readonly what: string;
  readonly why: string;
  readonly expected: string;
  readonly came: string;
}

/** Each of its words is one line, for the log, the page and the terminal: some are the service's. */
export function storyOf(change: Change): Story {
  const { atMs, expected } = change;
  return {
    atMs,
    what: inOneLine(movesOf(change)),
    why: inOneLine([groundOf(change), ...limitSentences(change)].join('. ')),
    expected: inOneLine(expectedWords(expected)),
    came: inOneLine(cameWords(change)),
  };
}

export function movesOf({ from, to }: Pick<Change, 'from' | 'to'>): string {
  return (Object.keys(to) as AdvisedParameter[])
    .map((name) => `${name} ${short(from[name])} → ${short(to[name])}`)
    .join(', ');
}

/** Without what single precision adds. */
function short(value: number | undefined): string {
  return value === undefined ? 'not known' : String(Number(value.toPrecision(6)));
}

/** The sentence of the advice begins with what it advises, which is told beside it. */
function groundOf(change: Change): string {
  const what = `${movesOf(change)}: `;
  return change.why.startsWith(what) ? change.why.slice(what.length) : change.why;
}

/** Where the computation did not decide alone, it is said. */
function limitSentences({ limits, to }: Change): string[] {
  const names = Object.keys(limits) as AdvisedParameter[];
  const by = (limit: Limit) =>
    names.flatMap((name) => (limits[name] === limit ? [`${name} ${to[name]}`] : [])).join(' and ');
  const [steps, bounds] = [by('step'), by('bound')];
  return [
    ...(steps === '' ? [] : [`One step goes no further than ${steps}`]),
    ...(bounds === '' ? [] : [`Bounds end at ${bounds}`]),
  ];
}

function expectedWords({
  costBefore,
  costAfter,
  p99After,
  limitSeconds,
  backtestError,
}: Expectation): string {
  return [
    `cost an hour ${money(costBefore.mean)} → ${money(costAfter.mean)} (95% between ${range(costAfter, money)})`,
    `p99 wait ${seconds(p99After.mean)} as modelled, limit ${seconds(limitSeconds)}`,
    `the backtest was off by ${orNotKnown(backtestError, (error) => `${Math.round(error * 100)}%`)}`,
  ].join('; ');
}

function cameWords({ phase, outcome, because, refused, setMs, came, from }: Change): string {
  const seen = came === undefined || came.minutes === 0 ? '' : `; ${experienceWords(came)}`;
  switch (phase) {
    case 'sending':
      if (because !== undefined) return `the service refused it (${because}); it is read back`;
      return setMs === undefined ? 'it is being sent' : 'the service took it; it is read back';
    case 'watching':
      return 'it is in force; what comes of it is not known yet';
    case 'returning':
      return `the old values are being put back: ${because}${seen}${refused === undefined ? '' : refusedWords(refused, from)}`;
    case 'over':
      break;
  }
  switch (outcome) {
    case 'kept':
      return `it stayed${seen}`;
    case 'rolled_back':
      return `the old values are back: ${because}${seen}`;
    case 'refused':
      return `the service did not take it: ${because}`;
    case 'lost':
      return `it never came into force: ${because}`;
    case 'overruled':
      return `a person's hand won: ${because}${seen}`;
    case undefined:
      return 'it is over';
  }
}

function refusedWords({ sinceMs, words }: NonNullable<Change['refused']>, from: Change['from']): string {
  const values = Object.entries(from).map(([name, value]) => `${name} ${value}`);
  return (
    `; the service has not taken them since ${new Date(sinceMs).toISOString()} (${words}): they are sent each minute; ` +
    `where that lasts, somebody has to set ${values.join(', ')} by hand` +
    (words === IGNORED ? '' : ', or give the API key the right to')
  );
}

function experienceWords(came: Experience): string {
  const { minutes, excessMinutes, excessMinutesBefore, costPerHour, costPerHourBefore } = came;
  const cost =
    costPerHour === null
      ? 'cost not known'
      : `cost an hour ${money(costPerHour)}` +
        (costPerHourBefore === null ? '' : `, at such a load ${money(costPerHourBefore)} before`);
  return `in its first hour, of ${minutes} minutes ${excessMinutes} with more load than ready workers can do (${excessMinutesBefore} before); ${cost}`;
}

function range({ low, high }: Estimate, words: (value: number) => string): string {
  return `${words(low)} and ${words(high)}`;
}

function money(value: number): string {
  return orNotKnown(value, (known) => known.toFixed(2));
}

function seconds(value: number): string {
  return orNotKnown(value, (known) => `${Number(known.toPrecision(3))} s`);
}

/** What is stored of a change may have been written by another version, or be damaged. */
function orNotKnown(value: number, words: (value: number) => string): string {
  return Number.isNaN(value) ? 'not known' : words(value);
}
