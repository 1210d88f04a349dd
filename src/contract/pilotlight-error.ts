/** What a caller must decide about is a value instead: `{ ok: false, … }`. */
import type { Actor } from './errors.ts';

/** The base of every error: `code` says which it is, `actor` who must act. No message has a key. */
export abstract class PilotlightError extends Error {
  /** Words in lower case, joined by underscores. */
  abstract readonly code: string;
  /** Who has to act before a repetition can succeed. */
  abstract readonly actor: Actor;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
