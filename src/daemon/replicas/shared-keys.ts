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
  /** Of the history of endpoints: counts the commits. */
  get fleetCommits(): string {
    return `${this.#scope}:fleet:commits`;
  }
  /** Hash: label of an endpoint → its state as JSON. */
  get fleetEndpoints(): string {
    return `${this.#scope}:fleet:endpoints`;
  }
  /** Hash: id of a worker → its life as JSON. */
  get fleetWorkers(): string {
    return `${this.#scope}:fleet:workers`;
  }
  /** The endpoints that are known, as JSON. */
  get fleetKnown(): string {
    return `${this.#scope}:fleet:known`;
  }
  /** Of an earlier version. Hash: label of an endpoint → how it was steered, as JSON. */
  get fleetSteering(): string {
    return `${this.#scope}:fleet:steering`;
  }
  /** Of an earlier version. Hash: number of a change of an endpoint → the change, as JSON. */
  fleetJournal(label: string): string {
    return `${this.#scope}:fleet:journal:${label}`;
  }
  /** List of starts of an endpoint's workers, as JSON. */
  fleetStarts(label: string): string {
    return `${this.#scope}:fleet:starts:${label}`;
  }
  /** A line for each row of an endpoint in a stretch of time, numbered from 1970 on. */
  fleetRows(label: string, tier: string, stretch: number): string {
    return `${this.#scope}:fleet:rows:${tier}:${stretch}:${label}`;
  }
  /** List of the lines of one window. */
  window(workergroupId: number, level: string): string {
    return `${this.windows}${workergroupId}:${level}`;
  }
}
