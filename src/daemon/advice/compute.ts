/** Advice computed by a child process: what is asked of it, and what it answers. */
import { fork } from 'node:child_process';
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import { CrashOutput } from '../../heartbeat/process/supervision/crash-output.ts';
import type { Wishes } from '../../scaling/advice/recorded.ts';
import type { AdviceReport } from '../../scaling/advice/report.ts';
import type { SearchBounds } from '../../scaling/planner/search/search-space.ts';
import type { PackedRecorded } from './history.ts';

export interface AdviceQuestion {
  readonly recorded: PackedRecorded;
  readonly wishes: Wishes;
  readonly bounds?: SearchBounds | undefined;
  readonly isCautious?: boolean | undefined;
}

/** Without what only a page draws. */
export type ComputedAdvice = Omit<AdviceReport, 'series'>;

export interface AdviceAnswer {
  readonly report: ComputedAdvice;
  /** The most memory that the child had. */
  readonly mebibytes: number;
}

export type ComputeAdvice = (question: AdviceQuestion, signal: AbortSignal) => Promise<AdviceAnswer>;

/** It ended without an answer: it was killed, or ran out of memory. It is tried again with the next schedule. */
export class AdviceLost extends PilotlightError {
  readonly code = 'advice_lost';
  readonly actor = 'bug';
}

/** Beside this file as source; in the flat folder of the bundle. */
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? './child.ts' : './advice.js', import.meta.url);

/**
 * With Node itself, 45 MiB, and the requests of a load, which lie outside of V8's heap, it stays below 128 MiB, or
 * 140 where a look is taken every 5 s. V8's smallest young generation, since a trial makes hardly any garbage; and of
 * glibc's malloc one arena for all threads, for each keeps what V8's compilers gave back to it: of a week's load both
 * together take 30 MB less.
 */
export const CHILD_LIMITS = {
  execArgv: ['--max-semi-space-size=1', '--max-old-space-size=56'],
  /** Nothing of ours: it needs none, and there is a key in it. */
  env: { MALLOC_ARENA_MAX: '1' },
};

/** Longest that one may take, ms: at the lowest priority of a busy machine it waits for everything else. */
const LONGEST_MS = 3_600_000;

/**
 * @throws the signal's reason once it is aborted: the child is killed then
 * @throws AdviceLost where the child ends without an answer, or has none in time
 */
export function computeInChild(
  question: AdviceQuestion,
  signal: AbortSignal,
  longestMs = LONGEST_MS,
): Promise<AdviceAnswer> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = fork(ENTRY, [], {
      ...CHILD_LIMITS,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const output = new CrashOutput();
    const kill = () => void child.kill('SIGKILL');
    const overdue = setTimeout(() => {
      reject(new AdviceLost(`there was no answer in ${longestMs / 60_000} min`));
      kill();
    }, longestMs);
    signal.addEventListener('abort', kill);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => output.add(text));
    child.on('error', (error) => reject(new AdviceLost(error.message, { cause: error })));
    child.on('message', (answer) => resolve(answer as AdviceAnswer));
    child.on('close', (code, name) => {
      signal.removeEventListener('abort', kill);
      clearTimeout(overdue);
      const how = `${name ?? `exit code ${code}`} ${output.words}`.trim();
      // Of no effect after an answer, or after the time was up.
      reject(signal.aborted ? signal.reason : new AdviceLost(`it ended without an answer: ${how}`));
    });
    // Where it cannot be sent the child has ended, and its end says how.
    if (child.connected) child.send(question, () => {});
  });
}
