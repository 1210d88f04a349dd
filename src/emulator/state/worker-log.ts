/** A chain of written lines and of growths over time. Once written, a line never changes. */
import { createRandom, mixSeeds, randomHex, type Random } from '../random.ts';
import type { GroupLog, Growth, Literal } from './serverless.ts';

type NewLog = Pick<Growth, 'source' | 'linesPerSecond' | 'sinceMs'> & Pick<GroupLog, 'retainedLines'>;

export function createGroupLog({ retainedLines, ...given }: NewLog): GroupLog {
  const growth: Growth = { kind: 'growth', first: 0, sourceFirst: 0, ...given };
  return { segments: [growth], retainedLines, clearedBefore: 0, unfinished: '', files: {} };
}

export function lineCount(log: GroupLog, nowMs: number): number {
  return endOf(openGrowth(log), nowMs);
}

export function firstRetained(log: GroupLog, nowMs: number): number {
  return Math.max(0, log.clearedBefore, lineCount(log, nowMs) - log.retainedLines);
}

export function growthRate(log: GroupLog): number {
  return openGrowth(log).linesPerSecond;
}

export function linesBetween(
  log: GroupLog,
  { from, to }: { readonly from: number; readonly to: number },
  nowMs: number,
): string[] {
  const first = Math.max(from, firstRetained(log, nowMs));
  const last = Math.min(to, lineCount(log, nowMs));
  const lines: string[] = [];
  for (const segment of log.segments) {
    const end = Math.min(last, endOf(segment, nowMs));
    for (let index = Math.max(first, segment.first); index < end; index += 1)
      lines.push(lineOf(segment, index));
  }
  return lines;
}

export function appendLines(log: GroupLog, lines: readonly string[], nowMs: number): void {
  const added = lines.flatMap((line) => line.split('\n'));
  if (log.unfinished !== '') added.unshift(log.unfinished);
  log.unfinished = '';
  if (added.length === 0) return;
  const growth = closeGrowth(log, nowMs);
  const last = log.segments.at(-1);
  const first = growth.first;
  if (last?.kind === 'literal') last.lines.push(...added);
  else log.segments.push({ kind: 'literal', first, lines: added });
  log.segments.push({ ...growth, first: first + added.length });
  dropOld(log, nowMs);
}

/** Text after the last line break stays unfinished until more comes. */
export function writeText(log: GroupLog, text: string, nowMs: number): void {
  if (growthRate(log) > 0)
    throw new Error('text without a line break at its end needs a log that does not grow by itself');
  const pieces = (log.unfinished + text).split('\n');
  const rest = pieces.pop() ?? '';
  log.unfinished = '';
  appendLines(log, pieces, nowMs);
  log.unfinished = rest;
}

export function setGrowthRate(log: GroupLog, linesPerSecond: number, nowMs: number): void {
  const growth = closeGrowth(log, nowMs);
  log.segments.push({ ...growth, sinceMs: nowMs, linesPerSecond });
  dropOld(log, nowMs);
}

/** Replayed lines keep their rate. */
export function setGrowth(log: GroupLog, linesPerSecond: number, nowMs: number): void {
  if (openGrowth(log).source.kind !== 'generated' || growthRate(log) === linesPerSecond) return;
  setGrowthRate(log, linesPerSecond, nowMs);
}

export function clearLog(log: GroupLog, nowMs: number): void {
  log.clearedBefore = lineCount(log, nowMs);
  log.unfinished = '';
  dropOld(log, nowMs);
}

function openGrowth(log: GroupLog): Growth {
  const last = log.segments.at(-1);
  if (last?.kind !== 'growth') throw new Error('the last segment of a log is always a growth');
  return last;
}

function endOf(segment: Literal | Growth, nowMs: number): number {
  if (segment.kind === 'literal') return segment.first + segment.lines.length;
  if (segment.end !== undefined) return segment.end;
  const elapsed = Math.max(0, nowMs - segment.sinceMs);
  const { source } = segment;
  const grown = Math.floor((elapsed * segment.linesPerSecond) / 1000);
  if (source.kind === 'generated') return segment.first + grown;
  const left = source.loop && source.lines.length > 0 ? grown : source.lines.length - segment.sourceFirst;
  return segment.first + Math.min(grown, left);
}

/** Ends the open growth. The returned one continues it without a gap. */
function closeGrowth(log: GroupLog, nowMs: number): Growth {
  const growth = openGrowth(log);
  const end = endOf(growth, nowMs);
  const written = end - growth.first;
  log.segments.pop();
  if (written > 0) log.segments.push({ ...growth, end });
  const sinceMs = growth.linesPerSecond > 0 ? writtenMs(growth, written) : nowMs;
  return { ...growth, first: end, sinceMs, sourceFirst: growth.sourceFirst + written };
}

function writtenMs({ sinceMs, linesPerSecond }: Growth, lines: number): number {
  return sinceMs + (lines * 1000) / linesPerSecond;
}

function lineOf(segment: Literal | Growth, index: number): string {
  const offset = index - segment.first;
  if (segment.kind === 'literal') return segment.lines[offset] ?? '';
  const { source } = segment;
  const sourceIndex = segment.sourceFirst + offset;
  if (source.kind === 'replay') return source.lines[sourceIndex % source.lines.length] ?? '';
  const line = inferenceLine(source.seed, sourceIndex);
  if (!line.includes(TIME_MARK)) return line;
  // `10-08 09:15:02`, UTC, like vLLM.
  const written = new Date(writtenMs(segment, offset + 1)).toISOString();
  return line.replaceAll(TIME_MARK, `${written.slice(5, 10)} ${written.slice(11, 19)}`);
}

/** `1790000000.123[456]`: seconds, milliseconds, microseconds. */
export function engineTime(atMs: number): string {
  const micros = Math.round(atMs * 1_000);
  const [seconds, rest] = [Math.floor(micros / 1_000_000), String(micros % 1_000_000).padStart(6, '0')];
  return `${seconds}.${rest.slice(0, 3)}[${rest.slice(3)}]`;
}

/** Long literals are cut at twice their size, so that this stays cheap. */
function dropOld(log: GroupLog, nowMs: number): void {
  const first = firstRetained(log, nowMs);
  const open = openGrowth(log);
  const { segments } = log;
  segments.splice(
    0,
    segments.findIndex((segment) => segment === open || endOf(segment, nowMs) > first),
  );
  const [oldest] = segments;
  if (oldest?.kind === 'literal' && first - oldest.first >= log.retainedLines)
    segments[0] = { kind: 'literal', first, lines: oldest.lines.slice(first - oldest.first) };
}

/** Placeholder for the time of a line, which only the log knows. */
const TIME_MARK = '\u0001';

/** Scenes span several lines, so lines are made in blocks. */
const BLOCK = 64;
/** More than the longest tail needs. */
const CACHED_BLOCKS = 512;

const blocks = new Map<string, readonly string[]>();

function inferenceLine(seed: number, index: number): string {
  const number = Math.floor(index / BLOCK);
  const name = `${seed}:${number}`;
  const block = blocks.get(name) ?? makeBlock(seed, number);
  blocks.set(name, block);
  const [oldest = name] = blocks.keys();
  if (blocks.size > CACHED_BLOCKS) blocks.delete(oldest);
  return block[index % BLOCK] ?? '';
}

function makeBlock(seed: number, number: number): string[] {
  const random = createRandom(mixSeeds(seed, number));
  const lines: string[] = number === 0 ? filled(STARTUP, random) : [];
  while (lines.length < BLOCK) lines.push(...filled(pickScene(random), random));
  return lines.slice(0, BLOCK);
}

function pickScene(random: Random): readonly string[] {
  let left = random() * SCENES.reduce((sum, { weight }) => sum + weight, 0);
  return SCENES.find(({ weight }) => (left -= weight) < 0)?.lines ?? STARTUP;
}

/** `{2-8}`: a number in this range, with as many decimals; `{id}`: the same in all lines; `{bar NAME}`. */
function filled(lines: readonly string[], random: Random): string[] {
  const id = randomHex(random, 16);
  return lines.map((line) =>
    line
      .replaceAll('{id}', id)
      .replace(/\{bar ([^}]+)\}/, (_, label: string) => progressBar(label, random))
      .replaceAll(/\{([\d.]+)-([\d.]+)\}/g, (_, from: string, to: string) => between(from, to, random)),
  );
}

function between(from: string, to: string, random: Random): string {
  const digits = to.split('.')[1]?.length ?? 0;
  return (Number(from) + random() * (Number(to) - Number(from))).toFixed(digits);
}

/** A redrawn bar is one line, its states separated by carriage returns. */
function progressBar(label: string, random: Random): string {
  const steps = Number(between('4', '16', random));
  const secondsEach = 0.4 + random() * 2;
  return Array.from({ length: steps + 1 }, (_, done) => {
    const percent = Math.round((100 * done) / steps);
    const filledBar = '█'.repeat(Math.round(percent / 10)).padEnd(10, ' ');
    const elapsed = `00:${String(Math.min(59, Math.round(done * secondsEach))).padStart(2, '0')}`;
    const rate = done === 0 ? '?' : (1 / secondsEach).toFixed(2);
    return `${label}: ${String(percent).padStart(3)}%|${filledBar}| ${done}/${steps} [${elapsed}<?, ${rate}it/s]`;
  }).join('\r');
}

const STARTUP: readonly string[] = [
  'INFO \u0001 [__init__.py:239] Automatically detected platform cuda.',
  'INFO \u0001 [api_server.py:1043] vLLM API server version 0.8.5',
  "INFO \u0001 [config.py:717] This model supports multiple tasks: {'generate', 'embed', 'score'}. Defaulting to 'generate'.",
  'WARNING \u0001 [cuda.py:93] To see benefits of async output processing, enable CUDA graph.',
  'INFO \u0001 [core.py:58] Initializing a V1 LLM engine (v0.8.5) with config: dtype=torch.bfloat16, max_seq_len=32768, seed={0-9}',
  '{bar Loading safetensors checkpoint shards}',
  'INFO \u0001 [gpu_model_runner.py:1347] Model loading took {5.00-70.00} GiB and {4.00-95.00} seconds',
  'INFO \u0001 [kv_cache_utils.py:634] GPU KV cache size: {50-900},424 tokens',
  '{bar Capturing CUDA graph shapes}',
  'INFO \u0001 [gpu_model_runner.py:1686] Graph capturing finished in {12-40} secs, took {0.30-2.00} GiB',
  'INFO:     Application startup complete.',
  'INFO:     Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C to quit)',
];

const HEALTH = 'INFO:     127.0.0.1:51842 - "GET /health HTTP/1.1" 200 OK';
const IDLE =
  'INFO \u0001 [loggers.py:111] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%, Prefix cache hit rate: 0.0%';
const BUSY =
  'INFO \u0001 [loggers.py:111] Engine 000: Avg prompt throughput: {50.0-4000.0} tokens/s, Avg generation throughput: {20.0-1800.0} tokens/s, Running: {1-64} reqs, Waiting: {0-12} reqs, GPU KV cache usage: {0.1-99.0}%, Prefix cache hit rate: {0.0-80.0}%';
const PREEMPTED =
  'WARNING \u0001 [scheduler.py:1057] Sequence group {1-9999} is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space.';
const DEPRECATED =
  '/usr/lib/python3/dist-packages/torch/cuda/__init__.py:61: FutureWarning: The pynvml package is deprecated.';

interface Scene {
  readonly weight: number;
  readonly lines: readonly string[];
}

const SCENES: readonly Scene[] = [
  {
    weight: 45,
    lines: [
      'INFO \u0001 [logger.py:39] Received request chatcmpl-{id}: params: SamplingParams(n=1, temperature={0.0-1.0}, max_tokens={16-4096})',
      'INFO \u0001 [async_llm.py:252] Added request chatcmpl-{id}.',
      'INFO:     10.0.{0-7}.{2-250}:{32768-60999} - "POST /v1/chat/completions HTTP/1.1" 200 OK',
    ],
  },
  { weight: 18, lines: [BUSY] },
  // Identical lines: a follower must not drop repeats by content.
  { weight: 9, lines: [HEALTH] },
  { weight: 6, lines: [HEALTH, HEALTH, HEALTH] },
  { weight: 6, lines: [IDLE] },
  { weight: 4, lines: [IDLE, IDLE, IDLE] },
  { weight: 3, lines: [PREEMPTED] },
  { weight: 3, lines: [DEPRECATED] },
  { weight: 4, lines: ['{bar Processed prompts}'] },
  {
    weight: 2,
    lines: [
      'ERROR \u0001 [serving_chat.py:201] Error in preprocessing prompt inputs',
      'Traceback (most recent call last):',
      '  File "/app/vllm/v1/worker/gpu_model_runner.py", line 1012, in execute_model',
      '    hidden_states = self.model(',
      'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {0.20-9.00} GiB. GPU 0 has a total capacity of 23.65 GiB of which 118.06 MiB is free.',
      '',
    ],
  },
];
