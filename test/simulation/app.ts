import type { AppAnswer } from '../../src/heartbeat/app/ask-app.ts';
import type { VirtualTime } from '../support/virtual-time.ts';

/** What an app does with each question: answers after so many ms, refuses at once, fails, or keeps silent. */
export type Mood =
  | { readonly kind: 'well'; readonly latency: number }
  | { readonly kind: 'refuses' | 'hangs' }
  | { readonly kind: 'fails'; readonly latency: number };

/** An app in virtual time, beside the driver. */
export class App {
  mood: Mood;
  /** When it was asked, and said that it is well: true time of the answer. */
  readonly wellAt: number[] = [];
  asked = 0;
  readonly #time: VirtualTime;

  constructor(time: VirtualTime, mood: Mood) {
    this.#time = time;
    this.mood = mood;
  }

  /** As it is asked; its mood may change while it answers. */
  readonly ask = (signal: AbortSignal): Promise<AppAnswer> => {
    this.asked += 1;
    const { mood } = this;
    const { promise, resolve, reject } = Promise.withResolvers<AppAnswer>();
    const answer = (): void => {
      if (signal.aborted) return;
      if (mood.kind === 'well') this.wellAt.push(this.#time.now);
      resolve(mood.kind === 'well' ? { well: true } : { well: false, why: 'it is not' });
    };
    const latency = 'latency' in mood ? mood.latency : mood.kind === 'refuses' ? 0 : undefined;
    const cancel = latency === undefined ? undefined : this.#time.deliver(this.#time.now + latency, answer);
    signal.addEventListener('abort', () => {
      cancel?.();
      reject(new Error('aborted'));
    });
    return promise;
  };
}
