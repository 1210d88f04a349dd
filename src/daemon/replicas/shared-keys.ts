/** The keys of one set of replicas. The braces keep them on one node of a cluster. */
export class SharedKeys {
  readonly #scope: string;

  /**
   * @param prefix What the names of all keys begin with.
   * @param scope What the replicas have in common and others have not.
   */
  constructor(prefix: string, scope: string) {
    this.#scope = `${prefix}:{${scope}}`;
  }

  get lease(): string {
    return `${this.#scope}:lease`;
  }
  get version(): string {
    return `${this.#scope}:version`;
  }
  /** List of JSON records; the first one has the position under `first`. */
  get records(): string {
    return `${this.#scope}:records`;
  }
  get first(): string {
    return `${this.#scope}:first`;
  }
  /** Hash: sink → position that it has acknowledged. */
  get acknowledged(): string {
    return `${this.#scope}:acknowledged`;
  }
  /** Hash: worker group → its progress as JSON, without the lines of the windows. */
  get progress(): string {
    return `${this.#scope}:progress`;
  }
  /** What the keys of all windows begin with. */
  get windows(): string {
    return `${this.#scope}:window:`;
  }
  /** List of the lines of one window. */
  window(workergroupId: number, level: string): string {
    return `${this.windows}${workergroupId}:${level}`;
  }
}
