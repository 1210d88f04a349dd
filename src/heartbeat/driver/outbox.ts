import type { Notice } from '../engine/state.ts';
import type { Ports } from './ports.ts';

/** Notices on their way to the listener, which hears them last, so that it holds up no request. */
export class Outbox {
  /** How many the listener answered with an exception. */
  errors = 0;
  #notices: { readonly id: number; readonly notice: Notice }[] = [];
  readonly #listener: Ports['listener'];

  constructor(listener: Ports['listener']) {
    this.#listener = listener;
  }

  add(id: number, notice: Notice): void {
    this.#notices.push({ id, notice });
  }

  deliver(): void {
    const notices = this.#notices;
    this.#notices = [];
    for (const { id, notice } of notices) {
      try {
        this.#listener(id, notice);
      } catch {
        this.errors += 1;
      }
    }
  }
}
