/** What an emulated inference server writes, line by line: programs that read such logs are tested with it. */
import { expect, test } from 'vitest';
import type { Random } from '../../../../src/emulator/random.ts';
import { SCENERIES, startup } from '../../../../src/emulator/worker-log/inference-log.ts';

/** Numbers that come again and again. */
function numbers(...values: readonly number[]): Random {
  let next = 0;
  return () => values[next++ % values.length] ?? 0;
}

function shown(lines: readonly string[]): string[] {
  return lines.map((line) => line.replaceAll('\u0001', '<time>'));
}

/** The texts of a bar, one below the other. */
function states(line = ''): string[] {
  return line.split('\r');
}

test('a start: the configuration, the bars of what takes long, and at last that it serves', () => {
  const lines = shown(startup(numbers(0.25, 0.5, 0.75)));
  expect(states(lines[6])).toEqual([
    'Loading safetensors checkpoint shards:   0%|          | 0/3 [00:00<?, ?it/s]',
    'Loading safetensors checkpoint shards:  33%|███       | 1/3 [00:01<?, 1.11it/s]',
    'Loading safetensors checkpoint shards:  67%|███████   | 2/3 [00:02<?, 1.11it/s]',
    'Loading safetensors checkpoint shards: 100%|██████████| 3/3 [00:03<?, 1.11it/s]',
  ]);
  const graphs = states(lines[11]);
  expect([graphs.length, graphs.at(-1)]).toEqual([
    31,
    'Capturing CUDA graph shapes: 100%|██████████| 30/30 [00:42<?, 0.71it/s]',
  ]);
  expect([...lines.slice(0, 6), ...lines.slice(7, 11), ...lines.slice(12)]).toEqual([
    'INFO <time> [__init__.py:239] Automatically detected platform cuda.',
    'INFO <time> [api_server.py:1043] vLLM API server version 0.8.5',
    "INFO <time> [config.py:717] This model supports multiple tasks: {'generate', 'embed', 'score'}. Defaulting to 'generate'.",
    'WARNING <time> [cuda.py:93] To see benefits of async output processing, enable CUDA graph.',
    'INFO <time> [core.py:58] Initializing a V1 LLM engine (v0.8.5) with config: dtype=torch.bfloat16, max_seq_len=32768, seed=7',
    'INFO <time> [cuda.py:221] Using Flash Attention backend on V1 engine.',
    'INFO <time> [loader.py:458] Loading weights took 46.50 seconds',
    'INFO <time> [gpu_model_runner.py:1347] Model loading took 53.75 GiB and 26.75 seconds',
    'INFO <time> [backends.py:430] Dynamo bytecode transform time: 7.50 s',
    'INFO <time> [kv_cache_utils.py:634] GPU KV cache size: 688,424 tokens',
    'INFO <time> [gpu_model_runner.py:1686] Graph capturing finished in 33 secs, took 0.72 GiB',
    'INFO:     Started server process [1]',
    'INFO:     Waiting for application startup.',
    'INFO:     Application startup complete.',
    'INFO:     Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C to quit)',
  ]);
});

test('a bar that takes more than a minute says 59 seconds, and the least of all is told too', () => {
  const slow = states(startup(numbers(0.999))[11]);
  expect(slow.at(-1)).toMatch(/^Capturing .*\| 40\/40 \[00:59<\?, 0\.42it\/s\]$/);
  const quick = shown(startup(numbers(0)));
  expect(states(quick[6]).at(-1)).toMatch(/\| 2\/2 \[00:01<\?, 2\.50it\/s\]$/);
  expect(quick[10]).toBe('INFO <time> [kv_cache_utils.py:634] GPU KV cache size: 50,008 tokens');
});

const HEALTHY = 'INFO:     127.0.0.1:51842 - "GET /health HTTP/1.1" 200 OK';
const IDLE =
  'INFO <time> [loggers.py:111] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%, Prefix cache hit rate: 0.0%';
const NAME = 'chatcmpl-4000000080000000c000000040000000';

test('the scenes of a server at work, by how often they are played', () => {
  const scenes = SCENERIES.all.map(({ weight, scene }) => [
    weight,
    shown(scene(numbers(0.25, 0.5, 0.75))).flatMap((line) => states(line)),
  ]);
  expect(scenes).toEqual([
    [
      45,
      [
        `INFO <time> [logger.py:39] Received request ${NAME}: params: SamplingParams(n=1, temperature=0.8, max_tokens=1036)`,
        `INFO <time> [async_llm.py:252] Added request ${NAME}.`,
        'INFO:     10.0.4.188:39826 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
      ],
    ],
    [
      18,
      [
        'INFO <time> [loggers.py:111] Engine 000: Avg prompt throughput: 1037.5 tokens/s, Avg generation throughput: 910.0 tokens/s, Running: 49 reqs, Waiting: 3 reqs, GPU KV cache usage: 49.6%, Prefix cache hit rate: 60.0%',
      ],
    ],
    [15, [HEALTHY, HEALTHY]],
    [10, [IDLE]],
    [
      6,
      [
        '/usr/lib/python3/dist-packages/torch/cuda/__init__.py:61: FutureWarning: The pynvml package is deprecated.',
      ],
    ],
    [
      4,
      [
        'Processed prompts:   0%|          | 0/7 [00:00<?, ?it/s]',
        'Processed prompts:  14%|█         | 1/7 [00:01<?, 0.71it/s]',
        'Processed prompts:  29%|███       | 2/7 [00:03<?, 0.71it/s]',
        'Processed prompts:  43%|████      | 3/7 [00:04<?, 0.71it/s]',
        'Processed prompts:  57%|██████    | 4/7 [00:06<?, 0.71it/s]',
        'Processed prompts:  71%|███████   | 5/7 [00:07<?, 0.71it/s]',
        'Processed prompts:  86%|█████████ | 6/7 [00:08<?, 0.71it/s]',
        'Processed prompts: 100%|██████████| 7/7 [00:10<?, 0.71it/s]',
      ],
    ],
    [
      2,
      [
        'ERROR <time> [serving_chat.py:201] Error in preprocessing prompt inputs',
        'Traceback (most recent call last):',
        '  File "/app/vllm/entrypoints/openai/serving_chat.py", line 187, in create_chat_completion',
        '    ) = await self._preprocess_chat(',
        '        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^',
        '  File "/app/vllm/v1/worker/gpu_model_runner.py", line 1012, in execute_model',
        '    hidden_states = self.model(',
        'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.40 GiB. GPU 0 has a total capacity of 23.65 GiB of which 118.06 MiB is free.',
        '',
      ],
    ],
  ]);
});

test('the other ends of what chance decides', () => {
  const [request, busy, health, idle, warning] = SCENERIES.all.map(({ scene }) => scene);
  expect(request?.(numbers(0.99)).at(-1)).toMatch(/^INFO: {5}10\.0\.7\.248:60\d+ - .* 400 Bad Request$/);
  expect(shown(busy?.(numbers(0.999)) ?? [])[0]).toMatch(
    /throughput: 3996\.1 .*: 1798\.2 .*Running: 64 reqs, Waiting: 12 reqs, .* 98\.9%, .* 79\.9%$/,
  );
  expect([health?.(numbers(0.999)).length, idle?.(numbers(0.999)).length]).toEqual([4, 3]);
  const warned = [0, 0.25, 0.5].map((value) => shown(warning?.(numbers(value)) ?? [])[0]);
  expect(warned).toEqual([
    'WARNING <time> [scheduler.py:1057] Sequence group 1 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space.',
    "WARNING <time> [protocol.py:71] The following fields were present in the request but ignored: {'top_p_min'}",
    'WARNING <time> [api_server.py:841] Request took 35.00s, longer than the 10s target.',
  ]);
});
