/**
 * What goes wrong at an endpoint, by name. Each detector judges each look; what it finds must last for a while to be a
 * trouble, and be away for a while to be over. Pure.
 */
import type { FleetNotice } from '../notices.ts';
import { DETECTORS, TROUBLE_NAMES, type Evidence, type Judgement, type TroubleName } from './detectors.ts';
import { emptyMemory, remember, type Look, type Memory } from './memory.ts';

export interface Trouble {
  readonly severity: 'critical' | 'warning';
  /** Of the first look that saw it, Unix ms. */
  readonly sinceMs: number;
  /** Goes on from the endpoint's name. */
  readonly says: string;
}

/** null: all is well. A trouble that cannot be judged is not in it. */
export type Troubles = Readonly<Partial<Record<TroubleName, Trouble | null>>>;

/** Something is seen, or was until lately. */
interface Course {
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly evidence: Evidence;
  readonly isTold: boolean;
}

export interface TroubleState {
  readonly memory: Memory;
  readonly courses: Readonly<Partial<Record<TroubleName, Course>>>;
  readonly troubles: Troubles;
}

/** @param before Undefined: this is the first look. */
export function troublesAfter(before: TroubleState | undefined, look: Look) {
  const { memory, events } = remember(before?.memory ?? emptyMemory(look.atMs), look);
  const courses: Partial<Record<TroubleName, Course>> = {};
  const troubles: Partial<Record<TroubleName, Trouble | null>> = {};
  const notices: FleetNotice[] = [];
  for (const name of TROUBLE_NAMES) {
    const judgement = DETECTORS[name].judge(look, memory);
    const last = before?.courses[name];
    const course = courseAfter(name, last, judgement, look.atMs);
    if (course) courses[name] = course;
    const { severity } = DETECTORS[name];
    if (judgement !== undefined)
      troubles[name] = course?.isTold
        ? { severity, sinceMs: course.sinceMs, says: course.evidence.says }
        : null;
    const about = { endpoint: look.endpoint, trouble: name };
    if (course?.isTold && !last?.isTold)
      notices.push({ kind: 'trouble begun', ...about, severity, evidence: course.evidence });
    if (last?.isTold && !course)
      notices.push({ kind: 'trouble ended', ...about, seconds: (look.atMs - last.sinceMs) / 1000 });
  }
  const state: TroubleState = { memory, courses, troubles };
  return { state, notices, events };
}

function courseAfter(
  name: TroubleName,
  last: Course | undefined,
  judgement: Judgement,
  atMs: number,
): Course | undefined {
  const { forMs, endsAfterMs } = DETECTORS[name];
  if (judgement === undefined) return last;
  if (judgement === null) return last?.isTold && atMs - last.lastMs < endsAfterMs ? last : undefined;
  const sinceMs = last?.sinceMs ?? atMs;
  return { sinceMs, lastMs: atMs, evidence: judgement, isTold: atMs - sinceMs >= forMs };
}
