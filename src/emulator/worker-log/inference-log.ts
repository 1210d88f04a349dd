/** Lines of an inference server, as a pure function of seed and index. */
import { createRandom, mixSeeds, type Random } from '../random.ts';
import type { Scenery } from '../state/endpoints.ts';

/** Placeholder for the time of a line, which only the log knows. */
export const TIME_MARK = '\u0001';

/** Scenes span several lines, so lines are made in blocks. */
const BLOCK = 64;
/** More than the longest tail needs. */
const CACHED_BLOCKS = 512;

const blocks = new Map<string, readonly string[]>();

export function inferenceLine(seed: number, index: number, scenes: Scenery = 'all'): string {
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
