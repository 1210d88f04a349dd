/** An app beside the driver lives, has its bad moments, dies and comes back. README.md has the promises. */
import {
  ANSWER_WITHIN,
  AppWatch,
  ASK_EVERY,
  ASK_WITHHELD_EVERY,
  type AppHealth,
  type AppAnswer,
} from '../../src/heartbeat/app-watch.ts';
import { timingFor } from '../../src/heartbeat/engine/formulas.ts';
import type { VirtualTime } from '../support/virtual-time.ts';
import type { Sky } from './network.ts';
import type { Random } from './random.ts';
import { finish, ROUNDING, stage, type RunOptions, type RunResult } from './scenario.ts';
import { ms, type World } from './world.ts';

const ID = 1;
/** A bad moment that is shorter than this by the grace is none that counts: the next question falls into a good one. */
const ONE_LOOK = ASK_EVERY + 2 * ANSWER_WITHIN + 2_000;

interface Scene {
  readonly world: World;
  readonly random: Random;
  readonly app: App;
  readonly grace: number;
  readonly watch: AppWatch;
  withheldAt: number;
  resumedAt: number;
  tooLate: readonly number[];
}

function scene(options: RunOptions): Scene {
  const { world, random, time, ttl, interval, weather } = stage(options, (ground) => {
    const latency = ground.random.between(1, 0.999 * ground.timing.attemptTimeout);
    return { changes: 0, latency, meet: (): Sky => ({ latency }) };
  });
  const grace = random.pick([5_000, random.between(5_000, 20_000), random.between(5_000, 600_000)]);
  const app = new App(time, goodMood(random));
  world.note(() => `   TTL ${ttl / 1000} s, latency ${ms(weather.latency)}, grace ${ms(grace)}`);
  world.add(ID, ttl, interval);
  const it: Scene = {
    world,
    random,
    app,
    grace,
    withheldAt: Infinity,
    resumedAt: Infinity,
    tooLate: [],
    watch: new AppWatch({
      grace,
      ports: { clock: time.clock, setTimer: time.setTimer },
      ask: app.ask,
      onHealth: (health, before) => hear(it, health, before),
    }),
  };
  return it;
}

/** As the heart does it (src/heartbeat/heart.ts). */
function hear(it: Scene, { withheld }: AppHealth, before: AppHealth): void {
  const { world } = it;
  if (withheld === before.withheld) return;
  world.note(() => (withheld ? '== withheld' : '== resumed'));
  if (withheld) {
    it.withheldAt = world.time.now;
    world.driver.withhold();
  } else {
    it.resumedAt = world.time.now;
    it.tooLate = world.driver.resume();
  }
}

function goodMood(random: Random): Mood {
  return { kind: 'well', latency: random.pick([1, random.between(1, 0.999 * ANSWER_WITHIN)]) };
}

function badMood(random: Random): Mood {
  const kind = random.pick(['refuses', 'hangs', 'fails', 'slow']);
  if (kind === 'slow') return { kind: 'well', latency: random.between(1.6, 4) * ANSWER_WITHIN };
  return kind === 'fails' ? { kind, latency: random.between(0, 0.9 * ANSWER_WITHIN) } : { kind };
}

/** The app answers well at least once a grace, and everything else goes wrong. */
async function live({ world, random, app, grace }: Scene): Promise<void> {
  const { time } = world;
  for (let turns = random.pick([0, 2, 5]); turns > 0; turns -= 1) {
    const kind = random.pick(['bad moment', 'bad moment', 'sleep', 'stall', 'clock']);
    world.note(() => `   (${kind})`);
    if (kind === 'clock') world.stepWallClock(random.between(-2, 2) * 3_600_000);
    if (kind === 'stall') world.stall(random.between(0, 2 * grace));
    if (kind === 'sleep') world.suspend(random.between(0, 10 * grace), random.chance(0.5));
    // Whatever kept the process from asking, the app may need a moment too.
    const longest = grace - ONE_LOOK - (kind === 'bad moment' ? 0 : 8_000);
    if (longest > 0) app.mood = badMood(random);
    await world.run(Infinity, () => time.running);
    await world.run(time.now + Math.max(0, random.between(0, longest)));
    app.mood = goodMood(random);
    await world.run(time.now + ONE_LOOK);
    // Its deployment lives or not, as the sleep has it: what is asked here is that it is not withheld.
    if (world.service.expiresAt(ID) === undefined) revive(world);
  }
}

/** What a long sleep has ended, another has made again: the promise of these worlds is about the app. */
function revive(world: World): void {
  world.lost.splice(0);
  const snapshot = world.driver.snapshotOf(ID);
  world.service.create(ID, snapshot?.ttlMs ?? 0);
  world.driver.beatNow(() => true);
}

/** From its last good moment, at `since`, the app is bad; it is withheld in time, and not before. */
async function die(it: Scene, since: number): Promise<void> {
  const { world, random, app, grace } = it;
  app.mood = badMood(random);
  const lateness = 2 * (timingOf(world)?.tick ?? 0) + 2_000;
  const latest = since + grace + ASK_EVERY + 2 * ANSWER_WITHIN + lateness;
  await world.run(latest, () => it.withheldAt < Infinity);
  const lastWellAt = app.wellAt.at(-1) ?? 0;
  if (it.withheldAt === Infinity)
    broken(world, `not withheld ${ms(latest - since)} after the last good moment`);
  else if (it.withheldAt < lastWellAt + grace - ROUNDING)
    broken(world, `withheld ${ms(it.withheldAt - lastWellAt)} after a good answer, grace ${ms(grace)}`);
}

function timingOf(world: World) {
  const snapshot = world.driver.snapshotOf(ID);
  return snapshot && timingFor({ ttl: snapshot.ttlMs, interval: snapshot.intervalMs });
}

function broken(world: World, what: string): void {
  world.promises.broken.push(`${world.time.now.toFixed(1)} ms: ${what}`);
}

export async function needed(options: RunOptions): Promise<RunResult> {
  const it = scene(options);
  const { world, random, app, watch } = it;
  const { time, service, network, driver } = world;
  const wasWell = random.chance(0.75);
  if (!wasWell) app.mood = badMood(random);
  else {
    await world.run(ONE_LOOK);
    await live(it);
    await world.run(time.now + random.between(0, ASK_EVERY));
    if (it.withheldAt < Infinity) broken(world, 'withheld while the app was well within the grace');
  }
  if (world.promises.broken.length > 0) return end();
  await die(it, wasWell ? time.now : 0);
  if (it.withheldAt === Infinity) return end();

  const sent = network.flights.length;
  const { attemptTimeout = 0, tick = 0 } = timingOf(world) ?? {};
  const enough = ASK_WITHHELD_EVERY + ANSWER_WITHIN + attemptTimeout + 2 * tick;
  const left = (service.expiresAt(ID) ?? 0) - time.now;
  const isEnough = random.chance(0.5);
  const atLeast = (options.factor ?? 1) * enough + ROUNDING;
  const remains = isEnough ? atLeast : random.between(-0.5, 1) * enough;
  await world.run(time.now + Math.max(0, left - remains));
  if (network.flights.length > sent) broken(world, 'a heartbeat left while nobody needed the deployment');
  const wasEnough = (service.expiresAt(ID) ?? -Infinity) - time.now >= atLeast - 2 * ROUNDING;

  if (random.chance(0.25)) {
    const missed = await time.until(driver.finalBeat());
    if (network.flights.length > sent || missed.length > 0)
      broken(world, 'a withheld deployment had a last beat');
    world.lost.splice(0);
    return end();
  }
  world.note(
    () => `== the app is well again, with ${ms((service.expiresAt(ID) ?? time.now) - time.now)} left`,
  );
  app.mood = goodMood(random);
  let accepted = false;
  world.onNotice = (_, { type }) => void (accepted ||= type === 'accepted');
  await world.run(time.now + enough + attemptTimeout + 1_000, () => accepted);
  if (it.resumedAt === Infinity) broken(world, 'not resumed');
  if (network.flights.length === sent) broken(world, 'it was not even tried');
  if (!wasEnough && it.tooLate.length > 0) world.lost.splice(0);
  return end();

  function end(): Promise<RunResult> {
    watch.stop();
    return finish(world);
  }
}

/** What an app does with each question: answers after so many ms, refuses at once, fails, or keeps silent. */
type Mood =
  | { readonly kind: 'well'; readonly latency: number }
  | { readonly kind: 'refuses' | 'hangs' }
  | { readonly kind: 'fails'; readonly latency: number };

class App {
  mood: Mood;
  /** When it was asked, and said that it is healthy: true time of the answer. */
  readonly wellAt: number[] = [];
  readonly #time: VirtualTime;

  constructor(time: VirtualTime, mood: Mood) {
    this.#time = time;
    this.mood = mood;
  }

  readonly ask = async (signal: AbortSignal): Promise<AppAnswer> => {
    const { mood } = this;
    const latency = 'latency' in mood ? mood.latency : mood.kind === 'refuses' ? 0 : undefined;
    const answer: AppAnswer = mood.kind === 'well' ? { healthy: true } : { healthy: false, why: 'it is not' };
    await this.#time.answer(answer, latency, signal);
    if (mood.kind === 'well') this.wellAt.push(this.#time.now);
    return answer;
  };
}
