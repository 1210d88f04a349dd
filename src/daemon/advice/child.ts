/**
 * Computes one advice, in a process of its own: at the lowest priority, and the first that the kernel ends where memory
 * runs out. It may be killed at any time, and ends with whoever asked.
 */
import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { unpackedRows } from '../../fleet/advice/packed-rows.ts';
import { recordedStretches } from '../../fleet/advice/recorded.ts';
import { advise } from '../../scaling/advice/advise.ts';
import type { AdviceAnswer, AdviceQuestion } from './compute.ts';
import { peakMebibytes } from './peak-memory.ts';

const OOM_SCORE = '1000';

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const)
  process.on(signal, () => process.exit());
process.on('disconnect', () => process.exit());
lowerPriority();
process.once('message', (question) => void answer(question as AdviceQuestion));

async function answer({ recorded, wishes, bounds, isCautious }: AdviceQuestion): Promise<void> {
  const { pages, ...known } = recorded;
  const stretches = recordedStretches(unpackedRows(pages));
  const { series: _, ...report } = await advise({ ...known, stretches }, wishes, { bounds, isCautious });
  process.send?.({ report, mebibytes: peakMebibytes() } satisfies AdviceAnswer, () => process.exit());
}

function lowerPriority(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', OOM_SCORE);
    setPriority(constants.priority.PRIORITY_LOW);
  } catch {
    // Not every system lets a process do so.
  }
}
