import { expect, test } from 'vitest';
import type { LogEvent } from '../../../../src/logs/events.ts';
import { GroupLookup } from '../../../../src/logs/lookup/group-lookup.ts';
import type { ListedGroup } from '../../../../src/logs/lookup/knowledge.ts';
import type { WantedGroup } from '../../../../src/logs/lookup/wanted.ts';
import { VirtualClock } from '../../../support/log-time.ts';

const CHAT: WantedGroup = { by: 'endpoint', name: 'chat' };
const SEVEN: WantedGroup = { by: 'id', id: 7 };

type Answer = () => readonly ListedGroup[] | Promise<never>;
const CHAT_IS_NINE: Answer = () => [{ id: 9, endpoint_name: 'chat' }];
const NO_GROUPS: Answer = () => [];
const SILENCE: Answer = () => new Promise<never>(() => {});

/** A lookup on virtual time, beside a service that answers as the test says at the moment. */
class Scene {
  readonly clock = new VirtualClock();
  readonly #begin = this.clock.now();
  readonly events: LogEvent[] = [];
  /** Seconds since the start. */
  readonly askedAt: number[] = [];
  followed: readonly number[] = [];
  answer: Answer;
  readonly lookup: GroupLookup;

  constructor(wanted: readonly WantedGroup[], answer: Answer = CHAT_IS_NINE) {
    this.answer = answer;
    this.lookup = new GroupLookup({
      wanted,
      list: async () => {
        this.askedAt.push((this.clock.now() - this.#begin) / 1000);
        return await this.answer();
      },
      onChange: (ids) => (this.followed = ids),
      observe: (event) => this.events.push(event),
      clock: this.clock,
      random: () => 0,
    });
  }

  kinds(): string[] {
    return this.events.map(({ kind }) => kind);
  }
}

test('ids are followed at once, and nothing is asked for them', async () => {
  const scene = new Scene([SEVEN]);
  expect(scene.followed).toEqual([7]);
  await scene.clock.advance(600_000);
  expect(scene.askedAt).toEqual([]);
});

test('names are looked up at the start and every minute', async () => {
  const scene = new Scene([SEVEN, CHAT]);
  expect(scene.followed).toEqual([7]);
  await scene.clock.advance(1);
  expect(scene.followed).toEqual([7, 9]);
  await scene.clock.advance(120_000);
  expect(scene.askedAt).toEqual([0, 60, 120]);
  expect(scene.kinds()).toEqual(['groups changed', 'groups changed']);
});

test('without an answer everything stays, it is asked again soon, and said once it is over', async () => {
  const scene = new Scene([CHAT]);
  await scene.clock.advance(1);
  scene.answer = () => Promise.reject(new Error('502'));
  await scene.clock.advance(60_000 + 1_000);
  expect(scene.followed).toEqual([9]);
  expect(scene.askedAt.slice(2)).toEqual([60.5]);
  scene.answer = CHAT_IS_NINE;
  await scene.clock.advance(60_000);
  expect(scene.kinds().slice(1)).toEqual(['groups not listed', 'groups not listed', 'groups listed again']);
});

test('a list that never comes is given up, and asked for again', async () => {
  const scene = new Scene([CHAT], SILENCE);
  await scene.clock.advance(601_000);
  expect(scene.askedAt).toEqual([0, 600.5]);
});

test('an endpoint that no group serves is named once, and again when it was served in between', async () => {
  const scene = new Scene([CHAT], NO_GROUPS);
  await scene.clock.advance(300_000);
  expect(scene.kinds()).toEqual(['endpoints unserved']);
  scene.answer = CHAT_IS_NINE;
  await scene.clock.advance(60_000);
  scene.answer = NO_GROUPS;
  await scene.clock.advance(120_000);
  expect(scene.kinds()).toEqual([
    'endpoints unserved',
    'groups changed',
    'groups changed',
    'endpoints unserved',
  ]);
});

test('a reload is followed at once, and asks at once', async () => {
  const scene = new Scene([SEVEN]);
  await scene.clock.advance(20_000);
  scene.lookup.want([CHAT]);
  expect(scene.followed).toEqual([]);
  await scene.clock.advance(1);
  expect(scene.followed).toEqual([9]);
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
