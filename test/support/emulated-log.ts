/** What stands in the log of an emulated worker group or endpoint. */
import type { EndpointGroupRecord, GroupLog } from '../../src/emulator/state/serverless.ts';
import type { State } from '../../src/emulator/state/state.ts';
import { defaultTraits, type Traits } from '../../src/emulator/state/settings.ts';
import { linesBetween } from '../../src/emulator/state/worker-log.ts';
import { answerLog } from '../../src/emulator/handlers/workergroups.ts';

export function tailText(log: GroupLog, tail: number, nowMs: number, traits: Partial<Traits> = {}): string {
  const state = {
    traits: { ...defaultTraits('spec'), ...traits },
    settings: { logTailMax: 10_000 },
  } as unknown as State;
  return answerLog({ info0: log, info1: log }, tail, { state, nowMs }).logs ?? '';
}

/** A line of an engine that begins with its time: seconds since 1970, and what it says. */
export function engineLine(line: string): readonly [seconds: number, text: string] | undefined {
  const [, seconds, text] = /^(\d+\.\d{3})\[\d{3}\] \[[^\]]+\] (.*)$/.exec(line) ?? [];
  return seconds === undefined || text === undefined ? undefined : [Number(seconds), text];
}

/** What an engine did, and when, without the first line of its log. */
export function engineEvents({ logs }: EndpointGroupRecord): (readonly [seconds: number, text: string])[] {
  const lines = linesBetween(logs.info1, { from: 1, to: Infinity }, Number.MAX_SAFE_INTEGER);
  return lines.flatMap((line) => [engineLine(line) ?? [0, line]]);
}
