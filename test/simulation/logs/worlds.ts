/** Logs as people have them, and services as they are: what the follower is made for. Time is virtual. */
import type { LogService, LogServiceOptions } from '../../support/log-service.ts';
import type { Random } from '../random.ts';

export type Unit = NonNullable<LogServiceOptions['unit']>;

export interface World {
  readonly name: string;
  readonly seconds: number;
  readonly service?: (random: Random, now: () => number) => LogServiceOptions;
  /** What is written in a tenth of a second. `at`: seconds since it began. */
  readonly write: (log: LogService, at: number, random: Random) => void;
  readonly isDown?: (at: number) => boolean;
  /** Between a question and its turn under the rate limit of the key, seconds. */
  readonly turnSeconds?: number;
  /** The process is killed so often, and goes on from what it stored, seconds. */
  readonly killSeconds?: number;
  /** Lines that may be lost behind gaps: those that the service did not keep until it was asked. */
  readonly mostLost?: number;
  /** Lines that may come again behind gaps. */
  readonly mostTwice?: number;
  /** Lines that come again in the same words, and that nobody can tell apart. */
  readonly hasEqualLines?: boolean;
}

const DECODE = ['prefill', 'decode', 'KV cache usage', 'preempted'];

/** Lines per second, each another one. */
function steady(rate: number, line = vllm) {
  return (log: LogService, at: number): void => {
    const [from, to] = [Math.floor(rate * at), Math.floor(rate * (at + 0.1))];
    for (let index = from; index < to; index++) log.writeLines([line(index)]);
  };
}

function vllm(index: number): string {
  return `INFO 11-21 08:${String(index % 3_600).padStart(4, '0')} engine ${DECODE[index % 4]} ${(index * 7919) % 1_000} tokens, request ${index}`;
}

/** A process that writes the same words in each life, one or more a second, and dies. */
function crashLoop(lifeSeconds: number, isAnew: boolean, everyTenths = 10) {
  return (log: LogService, at: number): void => {
    const age = Math.round(10 * (at % lifeSeconds));
    if (age === 0 && isAnew && at > 0.05) log.reset();
    if (age % everyTenths === 0) log.writeLines([`INFO loading the model, step ${age / everyTenths}`]);
    if (age === 10 * Math.floor(lifeSeconds) - 1) log.writeLines(['CUDA error: out of memory']);
  };
}

/** Lines of a service that says nearly the same each second: one number in ten seconds is another. */
function ticks(at: number): string[] {
  const rows = [0, 1, 2, 3].map((worker) => `${worker} 512.0 498.7 ${Math.floor((at + 10 * worker) / 40)}`);
  return ['[update_strategy] hold', 'ID Perf MeasPerf Reli', ...rows, 'run_value 0.0'];
}

const every = (at: number, seconds: number): boolean => Math.round(10 * at) % Math.round(10 * seconds) === 0;
const stale = (random: Random): LogServiceOptions => ({
  stale: () => (random.chance(0.2) ? random.between(0, 8_000) : 0),
});
const TRACEBACK = [
  '\u001B[31mTraceback (most recent call last):\u001B[0m',
  '  File "/app/server.py", line 88, in generate',
  '    out = model(x)',
  'torch.OutOfMemoryError: CUDA out of memory.',
];
const HEALTH = 'INFO:     127.0.0.1:0 - "GET /health HTTP/1.1" 200 OK';

export const WORLDS: readonly World[] = [
  ...[0.3, 2, 20, 200].map((rate) => ({ name: `${rate} lines/s`, seconds: 240, write: steady(rate) })),
  { name: '2,000 lines/s', seconds: 30, write: steady(2_000) },
  {
    name: 'equal health checks, and a request now and then',
    seconds: 300,
    hasEqualLines: true,
    write(log, at, random) {
      if (every(at, 5)) log.writeLines([HEALTH]);
      if (random.chance(0.01)) log.writeLines([vllm(log.written.length)]);
    },
  },
  {
    name: 'a bar that is redrawn, ComfyUI',
    seconds: 240,
    write(log, at) {
      if (every(at, 20)) log.writeLines([`got prompt ${at}`]);
      const step = Math.round(10 * at) % 200;
      if (step > 0 && step < 100 && step % 5 === 0) log.write(`\r ${step}%|███▏   | ${step}/100 [00:${at}]`);
      if (step === 100) log.write(`\r100%|██████| 100/100 [00:${at}]\n`);
    },
  },
  {
    name: 'equal tracebacks in colours, TGI',
    seconds: 300,
    hasEqualLines: true,
    write(log, at, random) {
      if (every(at, 2)) log.writeLines([vllm(log.written.length)]);
      if (random.chance(0.005)) log.writeLines(TRACEBACK);
    },
  },
  {
    name: 'several workers, merged with a lag',
    seconds: 240,
    service: (random) => ({ merged: () => (random.chance(0.05) ? random.between(0, 3_000) : 0) }),
    write: steady(10),
  },
  {
    name: 'a worker that is replaced',
    seconds: 240,
    mostLost: 2 * 25,
    write(log, at) {
      if (every(at, 90) && at > 1) log.reset();
      steady(10)(log, at);
    },
  },
  {
    name: 'files of 64 KB that are wiped',
    seconds: 200,
    service: () => ({ fileBytes: 65_536 }),
    // Five wipes, and the lines of one interval each.
    mostLost: 5 * 42,
    write: steady(20),
  },
  { name: 'one poll in five is stale', seconds: 240, service: stale, write: steady(10) },
  { name: 'an outage of minutes', seconds: 400, write: steady(5), isDown: (at) => at > 100 && at < 280 },
  {
    name: 'lines of 100 KB',
    seconds: 120,
    write: (log, at) => {
      if (every(at, 2)) log.writeLines([`${at} ${'x'.repeat(100_000)}`]);
    },
  },
  {
    name: 'line ends of CRLF, and characters of three bytes',
    seconds: 120,
    write: (log, at) => steady(10, (index) => `${vllm(index)} 模型加载完成\r`)(log, at),
  },
  {
    name: 'quiet, then 30,000 lines in 5 s',
    seconds: 200,
    write(log, at) {
      if (at < 100 && every(at, 10)) log.writeLines([`quiet ${at}`]);
      if (at >= 100 && at < 105) steady(6_000)(log, at);
    },
  },
  ...[12, 30, 40, 100].map((life) => ({
    name: `a crash loop of ${life} s in the same words, the log begins again`,
    seconds: 400,
    // Of each life the lines since the last poll.
    mostLost: Math.ceil(400 / life) * 4,
    write: crashLoop(life, true),
  })),
  {
    name: 'a crash loop of 40 s in the same words, on a service that lags',
    seconds: 600,
    service: (random) => ({ stale: () => (random.chance(0.2) ? random.between(0, 5_000) : 0) }),
    mostLost: 15 * 8,
    write: crashLoop(40, true),
  },
  {
    name: 'a crash loop of 12 s in the same words, appended',
    seconds: 300,
    hasEqualLines: true,
    write: crashLoop(12, false),
  },
  ...[20, 300].map((lines) => ({
    name: `a block of ${lines} lines that repeats`,
    seconds: 300,
    hasEqualLines: true,
    write: steady(14, (index) => vllm(index % lines)),
  })),
  {
    name: 'ticks of an endpoint without times, merged with a lag',
    seconds: 300,
    hasEqualLines: true,
    service: (random) => ({ merged: () => (random.chance(0.05) ? random.between(0, 3_000) : 0) }),
    mostTwice: 200,
    write: (log, at) => {
      if (every(at, 1)) log.writeLines(ticks(at));
    },
  },
  {
    name: 'a block of 700 lines that repeats, in bursts',
    seconds: 300,
    hasEqualLines: true,
    write: (log, at) => {
      if (every(at, 60))
        log.writeLines(Array.from({ length: 1_000 }, (_, index) => vllm((index + at) % 700)));
      steady(1, (index) => vllm(index % 700))(log, at);
    },
  },
  {
    name: 'answers capped at 20,000 bytes',
    seconds: 240,
    service: () => ({ givesBytes: 20_000 }),
    write: steady(10),
  },
  {
    name: 'answers capped at 1,000 lines',
    seconds: 240,
    service: () => ({ gives: 1_000 }),
    write: steady(10),
  },
  { name: 'killed every 25 s', seconds: 240, killSeconds: 25, write: steady(10) },
  {
    name: 'a service that never ends its last line',
    seconds: 240,
    service: () => ({ endsLines: false }),
    write: steady(2),
  },
  { name: 'one turn in 40 s under the rate limit', seconds: 600, turnSeconds: 40, write: steady(10) },
  ...[true, false].map((isAnew) => ({
    name: `a crash loop of 750 lines in 75 s, ${isAnew ? 'the log begins again' : 'appended'}`,
    seconds: 400,
    mostLost: isAnew ? 5 * 20 : 0,
    write: crashLoop(75, isAnew, 1),
  })),
  {
    name: 'a burst on a service whose answers have 40,000 bytes at most, or fail',
    seconds: 300,
    service: () => ({ byteLimit: 40_000 }),
    mostLost: 3_000,
    write: (log, at) => steady(at >= 100 && at < 101 ? 3_000 : 5)(log, at),
  },
  {
    name: 'bursts, and a connection that breaks for 3 s now and then',
    seconds: 400,
    write: (log, at) => steady(at % 60 < 1 ? 900 : 2)(log, at),
    isDown: (at) => at % 47 < 3,
  },
  { name: 'many lines, and one poll in five is stale', seconds: 60, service: stale, write: steady(200) },
];

/** Polls, bytes of answers, and lines that gaps say were lost, in the unit of `npm test`: what a change of the follower costs. */
export const FIGURES: Readonly<Record<string, readonly number[]>> = {
  '0.3 lines/s': [119, 269_875, 0],
  '2 lines/s': [134, 830_192, 0],
  '20 lines/s': [134, 2_373_758, 0],
  '200 lines/s': [133, 10_867_572, 0],
  '2,000 lines/s': [37, 12_084_075, 0],
  'equal health checks, and a request now and then': [139, 363_088, 0],
  'a bar that is redrawn, ComfyUI': [112, 449_784, 0],
  'equal tracebacks in colours, TGI': [161, 709_805, 0],
  'several workers, merged with a lag': [134, 1_904_861, 0],
  'a worker that is replaced': [134, 1_333_336, 27],
  'files of 64 KB that are wiped': [116, 1_726_689, 62],
  'one poll in five is stale': [145, 1_782_682, 0],
  'an outage of minutes': [136, 1_078_422, 0],
  'lines of 100 KB': [37, 29_155_272, 0],
  'line ends of CRLF, and characters of three bytes': [77, 998_719, 0],
  'quiet, then 30,000 lines in 5 s': [67, 13_586_692, 0],
  'a crash loop of 12 s in the same words, the log begins again': [316, 56_652, 66],
  'a crash loop of 30 s in the same words, the log begins again': [251, 110_040, 24],
  'a crash loop of 40 s in the same words, the log begins again': [241, 156_058, 16],
  'a crash loop of 100 s in the same words, the log begins again': [220, 360_662, 4],
  'a crash loop of 40 s in the same words, on a service that lags': [386, 240_535, 12],
  'a crash loop of 12 s in the same words, appended': [247, 1_096_810, 0],
  'a block of 20 lines that repeats': [340, 27_695_266, 0],
  'a block of 300 lines that repeats': [162, 2_373_123, 0],
  'ticks of an endpoint without times, merged with a lag': [171, 623_316, 17],
  'a block of 700 lines that repeats, in bursts': [116, 4_898_244, 0],
  'answers capped at 20,000 bytes': [134, 1_478_650, 0],
  'answers capped at 1,000 lines': [134, 1_485_587, 0],
  'killed every 25 s': [143, 2_265_052, 0],
  'a service that never ends its last line': [134, 830_905, 0],
  'one turn in 40 s under the rate limit': [28, 880_594, 0],
  'a crash loop of 750 lines in 75 s, the log begins again': [226, 1_257_057, 83],
  'a crash loop of 750 lines in 75 s, appended': [210, 1_420_528, 0],
  'a burst on a service whose answers have 40,000 bytes at most, or fail': [166, 1_681_288, 0],
  'bursts, and a connection that breaks for 3 s now and then': [207, 7_837_177, 0],
  'many lines, and one poll in five is stale': [49, 3_824_463, 0],
};
