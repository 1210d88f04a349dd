/**
 * Real logs at a service that does one or two things wrong, followed over real sockets by a process that is killed
 * again and again. The promises are those of the simulation. Time is the test's.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LogRecord } from '../../../src/logs/record.ts';
import { BEGINNING, FAULTS, FaultyLog, type Fault } from '../../simulation/logs/faulty-log.ts';
import { brokenPromises } from '../../simulation/logs/world.ts';
import { Random } from '../../simulation/random.ts';
import { childBundle } from '../../support/child-bundle.ts';
import type { WrittenLine } from '../../support/log-service.ts';
import { printedSeed } from '../../support/seed.ts';
import { serveLog } from '../../support/raw-log-server.ts';
import { describeWithRealData } from '../../support/real-data.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const CHILD = new URL('../../support/log-sockets-child.ts', import.meta.url);
let program: ReturnType<typeof childBundle>;
beforeAll(() => void (program = childBundle(CHILD)));
afterAll(() => program[Symbol.dispose]());

const PAIRS: readonly (readonly Fault[])[] = [
  ['stale', 'merged'],
  ['byte-limited', 'joined'],
  ['restarted', 'flaky'],
];
const [KILLS, STEPS, HONEST_STEPS] = [3, 60, 15];
/** Milliseconds. */
const [STEP, LONG_STEP, HONEST_STEP] = [1_000, 3_000, 10_000];

/** How a life ends: in the middle of a question, soon after an answer, or at a statement of the spool. */
type Death = 'question' | 'answer' | 'before' | 'after';
const DEATHS = ['question', 'answer', 'before', 'after'] as const satisfies readonly Death[];

describeWithRealData('a follower that is killed again and again', () => {
  const services = [...FAULTS.map((fault) => [fault]), ...PAIRS];
  test.concurrent.each(services.map((faults) => ({ faults, name: faults.join(' and ') })))(
    'keeps its promises at a service that is $name',
    async ({ faults }) => {
      const seed = printedSeed();
      const { kills, records, broken } = await follow(faults, seed);
      expect({ seed, broken }).toEqual({ seed, broken: [] });
      expect(kills).toBeGreaterThan(0);
      expect(records.length).toBeGreaterThan(20);
    },
  );
});

async function follow(faults: readonly Fault[], seed: number) {
  const [random, moments] = [new Random(seed), new Random(seed + 1)];
  const log = new FaultyLog(faults, random);
  const { service } = log;
  const stood = new Set<WrittenLine>();
  let onQuestion = () => {};
  using folder = temporaryFolder();
  await using server = await serveLog((tail) => {
    onQuestion();
    const answer = log.answer(tail);
    for (const line of service.shown) stood.add(line);
    return answer;
  });

  service.now = BEGINNING;
  const bySeq = new Map<number, LogRecord>();
  let [step, kills] = [0, 0];
  for (let life = 0; step < STEPS; life++) {
    const death = life < KILLS ? random.pick(DEATHS) : undefined;
    const isOwn = death === 'before' || death === 'after';
    const statement = isOwn ? Math.ceil(random.between(1, 120)) : 0;
    const begins = String(service.now);
    const child = fork(program.path, [folder.path, server.url, begins, String(statement), death ?? ''], {
      execArgv: [],
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    const [printed, closed] = [collected(child.stdout), once(child, 'close')];
    const dies = death === undefined ? Infinity : step + Math.ceil(random.between(0, STEPS / (KILLS + 2)));
    const isAlive = () => child.exitCode === null && child.signalCode === null;
    const answered = async (word: string): Promise<boolean> => {
      const isWord = once(child, 'message').then(([message]) => message === word);
      return (await Promise.race([isWord, closed.then(() => false)])) && isAlive();
    };
    onQuestion = () => {
      if (step < dies) return;
      if (death === 'question') child.kill('SIGKILL');
      if (death === 'answer') setTimeout(() => child.kill('SIGKILL'), moments.between(0, 5));
    };
    for (let goesOn = await answered('begun'); goesOn && step < STEPS; step++) {
      const ms = step >= STEPS - HONEST_STEPS ? HONEST_STEP : log.has('restarted') ? LONG_STEP : STEP;
      if (step >= STEPS - HONEST_STEPS) log.end();
      log.writeUntil(service.now + ms);
      if (isOwn && step >= dies + 5) child.kill('SIGKILL');
      else child.send(ms, () => {});
      goesOn = await answered('passed');
    }
    if (isAlive() && child.connected) child.send('stop', () => {});
    await closed;
    if (child.signalCode === 'SIGKILL') kills += 1;
    for (const record of await printed) {
      expect(bySeq.get(record.seq) ?? record).toEqual(record);
      bySeq.set(record.seq, record);
    }
  }
  const records = [...bySeq.values()].toSorted((one, other) => one.seq - other.seq);
  return { kills, records, broken: brokenPromises(log, records, stood) };
}

/** Whole lines: what a kill cut in half has no end, and comes again. */
async function collected(stream: NodeJS.ReadableStream | null): Promise<readonly LogRecord[]> {
  let text = '';
  stream?.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  if (stream) await once(stream, 'close');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LogRecord);
}
