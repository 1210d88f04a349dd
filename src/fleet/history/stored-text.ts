/** What is stored besides rows, as text. Pure, but for base64, which is Node's. */
import type { Change } from '../../scaling/autotune/state.ts';
import type { StepRow } from './fold.ts';
import { packed, unpacked } from './packed-row.ts';
import type { EndpointState } from './store.ts';

interface StoredEndpointState {
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly open: readonly (readonly [fromMs: number, lengthMs: number, packed: string])[];
}

export function endpointText({ sinceMs, lastMs, open }: EndpointState): string {
  const stored: StoredEndpointState = {
    sinceMs,
    lastMs,
    open: open.map((row) => [row.fromMs, row.lengthMs, base64Row(row)]),
  };
  return JSON.stringify(stored);
}

/** @throws SyntaxError */
export function endpointFrom(label: string, text: string): EndpointState {
  const { sinceMs, lastMs, open } = JSON.parse(text) as StoredEndpointState;
  return {
    label,
    sinceMs,
    lastMs,
    open: open.map(([fromMs, lengthMs, body]) => rowFromBase64(body, fromMs, lengthMs)),
  };
}

/** Of the journal what can be read: one bad row keeps neither its story nor a duty of steering from going on. */
export function changesFrom(texts: readonly string[]): Change[] {
  return texts.flatMap((text) => {
    try {
      return [JSON.parse(text) as Change];
    } catch {
      return [];
    }
  });
}

export function base64Row(row: StepRow): string {
  return Buffer.from(packed(row)).toString('base64');
}

/** @throws SyntaxError */
export function rowFromBase64(text: string, fromMs: number, lengthMs: number): StepRow {
  return unpacked(Buffer.from(text, 'base64'), fromMs, lengthMs);
}
