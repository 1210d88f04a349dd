/** A chain of written lines and of growths over time. Once written, a line never changes. */
import { createRandom, mixSeeds, type Random } from '../random.ts';
import type { GroupLog, Growth, LineSource, Literal, Scenery } from './serverless.ts';

export function createGroupLog(options: {
  source: LineSource;
  linesPerSecond: number;
  retainedLines: number;
  sinceMs: number;
}): GroupLog {
  const { source, linesPerSecond, sinceMs, retainedLines } = options;
  const growth: Growth = { kind: 'growth', first: 0, sinceMs, linesPerSecond, sourceFirst: 0, source };
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
  regrow(log, { sinceMs: nowMs, linesPerSecond }, nowMs);
}

function regrow(log: GroupLog, changes: Partial<Growth>, nowMs: number): void {
  const growth = closeGrowth(log, nowMs);
  log.segments.push({ ...growth, ...changes });
  dropOld(log, nowMs);
}

/** Replayed lines stay as they are. */
export function setGrowth(
  log: GroupLog,
  { linesPerSecond, scenes }: { readonly linesPerSecond: number; readonly scenes: Scenery },
  nowMs: number,
): void {
  const { source } = openGrowth(log);
  if (source.kind !== 'generated') return;
  if (growthRate(log) === linesPerSecond && (source.scenes ?? 'all') === scenes) return;
  regrow(log, { sinceMs: nowMs, linesPerSecond, source: { ...source, scenes } }, nowMs);
}

export function setLooks(
  log: GroupLog,
  looks: { readonly lines: readonly string[]; readonly everyMs: number; readonly sinceMs: number },
  nowMs: number,
): void {
  const { lines, everyMs } = looks;
  const { source } = openGrowth(log);
  if (source.kind === 'looks' && source.lines.join('\n') === lines.join('\n')) return;
  const sinceMs = looks.sinceMs + Math.floor((nowMs - looks.sinceMs) / everyMs) * everyMs;
  regrow(log, { sinceMs, source: { kind: 'looks', lines, everyMs } }, nowMs);
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
  if (source.kind === 'looks')
    return segment.first + Math.floor(elapsed / source.everyMs) * source.lines.length;
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
  const grows = growth.linesPerSecond > 0 || growth.source.kind === 'looks';
  const sinceMs = grows ? writtenMs(growth, written) : nowMs;
  return { ...growth, first: end, sinceMs, sourceFirst: growth.sourceFirst + written };
}

function writtenMs({ sinceMs, linesPerSecond, source }: Growth, lines: number): number {
  if (source.kind === 'looks') return sinceMs + Math.ceil(lines / source.lines.length) * source.everyMs;
  return sinceMs + (lines * 1000) / linesPerSecond;
}

function lineOf(segment: Literal | Growth, index: number): string {
  const offset = index - segment.first;
  if (segment.kind === 'literal') return segment.lines[offset] ?? '';
  const { source } = segment;
  const atMs = writtenMs(segment, offset + 1);
  if (source.kind === 'looks') {
    const line = source.lines[offset % source.lines.length] ?? '';
    return line.replace(TIME_MARK, engineTime(atMs));
  }
  const sourceIndex = segment.sourceFirst + offset;
  if (source.kind === 'replay') return source.lines[sourceIndex % source.lines.length] ?? '';
  const line = inferenceLine(source.seed, sourceIndex, source.scenes);
  if (!line.includes(TIME_MARK)) return line;
  return line.replaceAll(TIME_MARK, clockText(atMs));
}

/** `1790000000.123[456]`: seconds, milliseconds, microseconds. */
export function engineTime(atMs: number): string {
  const micros = Math.round(atMs * 1_000);
  const [seconds, rest] = [Math.floor(micros / 1_000_000), String(micros % 1_000_000).padStart(6, '0')];
  return `${seconds}.${rest.slice(0, 3)}[${rest.slice(3)}]`;
}

/** `10-08 09:15:02`, UTC, like vLLM. */
export function clockText(atMs: number): string {
  const iso = new Date(atMs).toISOString();
  return `${iso.slice(5, 10)} ${iso.slice(11, 19)}`;
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
export const TIME_MARK = '\u0001';

/** Scenes span several lines, so lines are made in blocks. */
const BLOCK = 64;
/** More than the longest tail needs. */
const CACHED_BLOCKS = 512;

const blocks = new Map<string, readonly string[]>();

function inferenceLine(seed: number, index: number, scenes: Scenery = 'all'): string {
  const number = Math.floor(index / BLOCK);
  const name = `${seed}:${number}:${scenes}`;
  const block = blocks.get(name) ?? makeBlock(seed, number, scenes);
  blocks.set(name, block);
  const [oldest = name] = blocks.keys();
  if (blocks.size > CACHED_BLOCKS) blocks.delete(oldest);
  return block[index % BLOCK] ?? '';
}

function makeBlock(seed: number, number: number, scenes: Scenery): string[] {
  const random = createRandom(mixSeeds(seed, number));
  // An engine writes the starts of its workers itself.
  const lines: string[] = number === 0 && scenes === 'all' ? startup(random) : [];
  while (lines.length < BLOCK) lines.push(...pickScene(SCENERIES[scenes], random)(random));
  return lines.slice(0, BLOCK);
}

function pickScene(scenes: readonly Scene[], random: Random): Scene['scene'] {
  let left = random() * scenes.reduce((sum, { weight }) => sum + weight, 0);
  for (const { weight, scene } of scenes) {
    left -= weight;
    if (left < 0) return scene;
  }
  return startup;
}

const INFO = 'INFO \u0001';
const WARNING = 'WARNING \u0001';
const ERROR = 'ERROR \u0001';

function integer(random: Random, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1));
}

function decimal(random: Random, from: number, to: number, digits = 1): string {
  return (from + random() * (to - from)).toFixed(digits);
}

function hex(random: Random, digits: number): string {
  return Array.from({ length: digits }, () => integer(random, 0, 15).toString(16)).join('');
}

/** A redrawn bar is one line, its states separated by carriage returns. */
function progressBar(label: string, steps: number, random: Random): string {
  const secondsEach = 0.4 + random() * 2;
  return Array.from({ length: steps + 1 }, (_, done) => {
    const percent = Math.round((100 * done) / steps);
    const filled = '█'.repeat(Math.round(percent / 10)).padEnd(10, ' ');
    const elapsed = `00:${String(Math.min(59, Math.round(done * secondsEach))).padStart(2, '0')}`;
    const rate = done === 0 ? '?' : (1 / secondsEach).toFixed(2);
    return `${label}: ${String(percent).padStart(3)}%|${filled}| ${done}/${steps} [${elapsed}<?, ${rate}it/s]`;
  }).join('\r');
}

export function startup(random: Random): string[] {
  const shards = integer(random, 2, 8);
  const graphs = integer(random, 20, 40);
  return [
    `${INFO} [__init__.py:239] Automatically detected platform cuda.`,
    `${INFO} [api_server.py:1043] vLLM API server version 0.8.5`,
    `${INFO} [config.py:717] This model supports multiple tasks: {'generate', 'embed', 'score'}. Defaulting to 'generate'.`,
    `${WARNING} [cuda.py:93] To see benefits of async output processing, enable CUDA graph.`,
    `${INFO} [core.py:58] Initializing a V1 LLM engine (v0.8.5) with config: dtype=torch.bfloat16, max_seq_len=32768, seed=${integer(random, 0, 9)}`,
    `${INFO} [cuda.py:221] Using Flash Attention backend on V1 engine.`,
    progressBar('Loading safetensors checkpoint shards', shards, random),
    `${INFO} [loader.py:458] Loading weights took ${decimal(random, 3, 90, 2)} seconds`,
    `${INFO} [gpu_model_runner.py:1347] Model loading took ${decimal(random, 5, 70, 2)} GiB and ${decimal(random, 4, 95, 2)} seconds`,
    `${INFO} [backends.py:430] Dynamo bytecode transform time: ${decimal(random, 3, 12, 2)} s`,
    `${INFO} [kv_cache_utils.py:634] GPU KV cache size: ${integer(random, 50, 900)},${hex(random, 1) === '0' ? '008' : '424'} tokens`,
    progressBar('Capturing CUDA graph shapes', graphs, random),
    `${INFO} [gpu_model_runner.py:1686] Graph capturing finished in ${integer(random, 12, 40)} secs, took ${decimal(random, 0.3, 2, 2)} GiB`,
    'INFO:     Started server process [1]',
    'INFO:     Waiting for application startup.',
    'INFO:     Application startup complete.',
    'INFO:     Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C to quit)',
  ];
}

function healthChecks(random: Random): string[] {
  // Identical lines: a follower must not drop repeats by content.
  return Array.from(
    { length: integer(random, 1, 4) },
    () => 'INFO:     127.0.0.1:51842 - "GET /health HTTP/1.1" 200 OK',
  );
}

function request(random: Random): string[] {
  const name = `chatcmpl-${hex(random, 32)}`;
  const client = `10.0.${integer(random, 0, 7)}.${integer(random, 2, 250)}:${integer(random, 32_768, 60_999)}`;
  const status = random() < 0.97 ? '200 OK' : '400 Bad Request';
  return [
    `${INFO} [logger.py:39] Received request ${name}: params: SamplingParams(n=1, temperature=${decimal(random, 0, 1)}, max_tokens=${integer(random, 16, 4096)})`,
    `${INFO} [async_llm.py:252] Added request ${name}.`,
    `INFO:     ${client} - "POST /v1/chat/completions HTTP/1.1" ${status}`,
  ];
}

function busyStatistics(random: Random): string[] {
  return [
    `${INFO} [loggers.py:111] Engine 000: Avg prompt throughput: ${decimal(random, 50, 4000)} tokens/s, Avg generation throughput: ${decimal(random, 20, 1800)} tokens/s, Running: ${integer(random, 1, 64)} reqs, Waiting: ${integer(random, 0, 12)} reqs, GPU KV cache usage: ${decimal(random, 0.1, 99)}%, Prefix cache hit rate: ${decimal(random, 0, 80)}%`,
  ];
}

function idleStatistics(random: Random): string[] {
  const line =
    'Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%, Prefix cache hit rate: 0.0%';
  return Array.from({ length: integer(random, 1, 3) }, () => `${INFO} [loggers.py:111] ${line}`);
}

function warning(random: Random): string[] {
  const lines = [
    `${WARNING} [scheduler.py:1057] Sequence group ${integer(random, 1, 9999)} is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space.`,
    `${WARNING} [protocol.py:71] The following fields were present in the request but ignored: {'top_p_min'}`,
    `${WARNING} [api_server.py:841] Request took ${decimal(random, 10, 60, 2)}s, longer than the 10s target.`,
    '/usr/lib/python3/dist-packages/torch/cuda/__init__.py:61: FutureWarning: The pynvml package is deprecated.',
  ];
  return [lines[integer(random, 0, lines.length - 1)] ?? ''];
}

export function traceback(random: Random): string[] {
  const wanted = decimal(random, 0.2, 9, 2);
  return [
    `${ERROR} [serving_chat.py:201] Error in preprocessing prompt inputs`,
    'Traceback (most recent call last):',
    '  File "/app/vllm/entrypoints/openai/serving_chat.py", line 187, in create_chat_completion',
    '    ) = await self._preprocess_chat(',
    '        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^',
    '  File "/app/vllm/v1/worker/gpu_model_runner.py", line 1012, in execute_model',
    '    hidden_states = self.model(',
    `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ${wanted} GiB. GPU 0 has a total capacity of 23.65 GiB of which 118.06 MiB is free.`,
    '',
  ];
}

interface Scene {
  readonly weight: number;
  readonly scene: (random: Random) => string[];
}

const ALL: readonly Scene[] = [
  { weight: 45, scene: request },
  { weight: 18, scene: busyStatistics },
  { weight: 15, scene: healthChecks },
  { weight: 10, scene: idleStatistics },
  { weight: 6, scene: warning },
  { weight: 4, scene: (random) => [progressBar('Processed prompts', integer(random, 4, 16), random)] },
  { weight: 2, scene: traceback },
];

/** An engine writes failures when they happen. */
const SCENERIES: Readonly<Record<Scenery, readonly Scene[]>> = {
  all: ALL,
  busy: ALL.filter(({ scene }) => scene !== idleStatistics && scene !== traceback),
  idle: ALL.filter(({ scene }) => scene === idleStatistics || scene === healthChecks),
};
