import { describe, expect, test } from 'vitest';
import type { WantedRow } from '../../../../src/contract/wanted.ts';
import type { LogEvent } from '../../../../src/logs/events.ts';
import { type ListedLog, LogLookup } from '../../../../src/logs/lookup/log-lookup.ts';
import { type LogSource, sourceKey, type SourceKey } from '../../../../src/logs/record.ts';
import { VirtualClock } from '../../../support/log-time.ts';

const ALL: WantedRow = { by: 'all' };
const CHAT: WantedRow = { by: 'name', name: 'chat' };
const SEVEN: WantedRow = { by: 'id', id: 7 };

type Answer = () => readonly ListedLog[] | Promise<never>;
const list =
  (...rows: (readonly [id: number, name?: string])[]): Answer =>
  () =>
    rows.map(([id, endpoint_name]) => ({ id, endpoint_name }));
const CHAT_IS_NINE = list([9, 'chat']);
const SILENCE: Answer = () => new Promise<never>(() => {});

/** A lookup on virtual time, beside a service that answers as the test says at the moment. */
class Scene {
  readonly clock = new VirtualClock();
  readonly #begin = this.clock.now();
  readonly events: LogEvent[] = [];
  /** Seconds since the start. */
  readonly askedAt: number[] = [];
  readonly #followed = new Map<SourceKey, LogSource>();
  answer: Answer;
  readonly lookup: LogLookup;

  constructor(
    wanted: readonly WantedRow[],
    answer: Answer = CHAT_IS_NINE,
    kind: LogSource['kind'] = 'workergroup',
  ) {
    this.answer = answer;
    this.lookup = new LogLookup({
      kind,
      wanted,
      list: async () => {
        this.askedAt.push((this.clock.now() - this.#begin) / 1000);
        return await this.answer();
      },
      onChange: (begun, left) => {
        for (const source of left) this.#followed.delete(sourceKey(source));
        for (const source of begun) this.#followed.set(sourceKey(source), source);
      },
      observe: (event) => this.events.push(event),
      clock: this.clock,
      random: () => 0,
    });
  }

  /** Ids of groups, names of endpoints. */
  get followed(): string {
    const names = Array.from(this.#followed.values(), (one) =>
      one.kind === 'endpoint' ? one.name : String(one.id),
    );
    return names.toSorted().join(' ');
  }

  kinds(): string[] {
    return this.events.map(({ kind }) => kind);
  }

  /** What is followed after each list. */
  async after(...answers: readonly Answer[]): Promise<readonly string[]> {
    const seen: string[] = [];
    for (const answer of answers) {
      this.answer = answer;
      await this.clock.advance(seen.length === 0 ? 1 : 60_000);
      seen.push(this.followed);
    }
    return seen;
  }
}

test('ids of groups are followed at once, and nothing is asked for them', async () => {
  const scene = new Scene([SEVEN]);
  expect(scene.followed).toBe('7');
  await scene.clock.advance(600_000);
  expect(scene.askedAt).toEqual([]);
});

test('names are looked up at the start and every minute', async () => {
  const scene = new Scene([SEVEN, CHAT]);
  expect(scene.followed).toBe('7');
  await scene.clock.advance(1);
  expect(scene.followed).toBe('7 9');
  await scene.clock.advance(120_000);
  expect(scene.askedAt).toEqual([0, 60, 120]);
  expect(scene.kinds()).toEqual(['logs changed', 'logs changed']);
});

describe('what the lists say', () => {
  const ROWS = list([9, 'chat'], [8, 'images'], [6]);
  const NONE = list();
  const CHAT_IS_FIVE = list([5, 'chat']);

  test.each<[string, WantedRow[], Answer[], string[]]>([
    ['`all` takes what the list has', [ALL, SEVEN], [ROWS], ['6 7 8 9']],
    ['what one list misses stays', [ALL], [ROWS, NONE, ROWS, NONE], ['6 8 9', '6 8 9', '6 8 9', '6 8 9']],
    [
      'what two in a row miss is left, but no id',
      [ALL, SEVEN],
      [ROWS, NONE, NONE],
      ['6 7 8 9', '6 7 8 9', '7'],
    ],
    [
      'a redeployed endpoint has its old group for one more',
      [CHAT],
      [ROWS, CHAT_IS_FIVE, CHAT_IS_FIVE],
      ['9', '5 9', '5'],
    ],
    [
      'a group keeps its endpoint while the list leaves it out',
      [CHAT],
      [ROWS, list([9]), list([9, 'x'])],
      ['9', '9', ''],
    ],
  ])('%s', async (_name, wanted, answers, expected) => {
    expect(await new Scene(wanted, answers[0]).after(...answers)).toEqual(expected);
  });
});

test('endpoints are followed by their names, also those that are wanted by id; another name is another log', async () => {
  const scene = new Scene([SEVEN, CHAT], list(), 'endpoint');
  const answers = [
    list(),
    list([9, 'chat'], [7, 'images'], [8, 'other']),
    list([9, 'chat'], [7, 'pictures']),
  ];
  expect(await scene.after(...answers)).toEqual(['', 'chat images', 'chat pictures']);
  expect(scene.kinds()).toEqual(['endpoints missing', 'logs changed', 'logs changed']);
  expect(scene.events[0]).toEqual({ kind: 'endpoints missing', of: 'endpoint', names: ['chat'] });
});

test('without an answer everything stays, it is asked again soon, and said once it is over', async () => {
  const scene = new Scene([CHAT]);
  await scene.clock.advance(1);
  scene.answer = () => Promise.reject(new Error('502'));
  await scene.clock.advance(60_000 + 1_000);
  expect(scene.followed).toBe('9');
  expect(scene.askedAt.slice(2)).toEqual([60.5]);
  scene.answer = CHAT_IS_NINE;
  await scene.clock.advance(60_000);
  expect(scene.kinds().slice(1)).toEqual(['logs not listed', 'logs not listed', 'logs listed again']);
});

test('a list that never comes is given up, and asked for again', async () => {
  const scene = new Scene([CHAT], SILENCE);
  await scene.clock.advance(601_000);
  expect(scene.askedAt).toEqual([0, 600.5]);
});

test('an endpoint that is missing is named once, and again when it was there in between', async () => {
  const scene = new Scene([CHAT], list());
  await scene.clock.advance(300_000);
  expect(scene.kinds()).toEqual(['endpoints missing']);
  scene.answer = CHAT_IS_NINE;
  await scene.clock.advance(60_000);
  scene.answer = list();
  await scene.clock.advance(120_000);
  expect(scene.kinds()).toEqual(['endpoints missing', 'logs changed', 'logs changed', 'endpoints missing']);
});

test('a reload is followed at once, and asks at once', async () => {
  const scene = new Scene([SEVEN]);
  await scene.clock.advance(20_000);
  scene.lookup.want([CHAT]);
  expect(scene.followed).toBe('');
  await scene.clock.advance(1);
  expect(scene.followed).toBe('9');
  expect(scene.askedAt).toEqual([20]);
});

test('when it is stopped, a list under way is abandoned and nothing more is told', async () => {
  const scene = new Scene([CHAT], SILENCE);
  await scene.clock.advance(10);
  await scene.lookup.stop();
  await scene.clock.advance(600_000);
  expect(scene.askedAt).toEqual([0]);
  expect(scene.events).toEqual([]);
});
