/** What a child process that crashes prints, as far as it says why. */

/** Of what it printed last, characters. */
const KEPT = 500;
/** Node's own words, before a native stack of many more characters: `FATAL ERROR: … heap out of memory`. */
const FATAL = /^FATAL ERROR: .+(?=\n)/m;

/** Memory does not grow with what is printed. */
export class CrashOutput {
  #fatal: string | undefined;
  #last = '';

  add(text: string): void {
    const known = this.#last + text;
    this.#fatal ??= FATAL.exec(known)?.[0].slice(0, KEPT);
    this.#last = known.slice(-KEPT);
  }

  /** Empty where nothing was printed. */
  get words(): string {
    return this.#fatal ?? this.#last.trim();
  }
}
