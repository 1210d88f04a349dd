/**
 * What an earlier version left behind: it changed parameters of endpoints by itself, and put old values back where a change
 * did harm. A change that was under way is told once, since nobody watches it any more, and then forgotten. Pure, but for
 * the file that is handed in.
 */
import { isRecord } from '../../contract/is-record.ts';
import type { DatabaseFile } from '../../storage/database-file.ts';

/** A change that was under way. Its values are null if they cannot be read. */
export interface LeftChange {
  readonly endpoint: string;
  readonly endpointId?: unknown;
  /** `watching`, or `returning` where the old values were being put back, and why. */
  readonly phase?: unknown;
  readonly because?: unknown;
  readonly oldValues: Readonly<Record<string, unknown>> | null;
  readonly newValues: Readonly<Record<string, unknown>> | null;
}

/** @param stored By label of an endpoint: what the earlier version kept of it, as JSON. */
export function leftChanges(stored: readonly (readonly [label: string, text: string])[]): LeftChange[] {
  return stored.flatMap(([endpoint, text]): LeftChange[] => {
    const state = parsed(text);
    // Nothing was ever changed, or the last change is over.
    if (isRecord(state) && state['change'] === undefined) return [];
    const change = isRecord(state) && isRecord(state['change']) ? state['change'] : {};
    if (change['phase'] === 'over') return [];
    const { endpointId, phase, because, from, to } = change;
    return [{ endpoint, endpointId, phase, because, oldValues: valuesOf(from), newValues: valuesOf(to) }];
  });
}

/** Reads what is left in a file of the history, and removes it. */
export function takeLeftChanges(file: DatabaseFile): LeftChange[] {
  if (!file.db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'steering'").get()) return [];
  return file.transaction(() => {
    const rows = file.db.prepare('SELECT label, body FROM steering').all();
    file.db.exec('DROP TABLE steering; DROP TABLE IF EXISTS change');
    return leftChanges(rows.map(({ label, body }) => [String(label), String(body)]));
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function valuesOf(value: unknown): LeftChange['oldValues'] {
  return isRecord(value) ? value : null;
}
