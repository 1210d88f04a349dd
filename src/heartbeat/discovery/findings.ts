/** What a person should know about the wanted deployments and the questions about them: data, no text. */

/** By type; all times in ms. */
interface Facts {
  /** The TTL that the user gave is not the service's; `learned` null: it lives until it is deleted. */
  'ttl-differs': { id: number; given: number; learned: number | null; used: number };
  /** The configured interval does not suit the TTL, so the automatic one is used. */
  'interval-too-long': { id: number; ttl: number; interval: number; atMost: number | undefined };
  /** Even the shortest interval leaves no time for one failed heartbeat. */
  'ttl-too-short': { id: number; ttl: number; atLeast: number };
  /** A deployment of a wanted name is stopped, and so it is not kept alive. */
  stopped: { id: number; label: string };
  matched: { label: string; ids: readonly number[] };
  /** The service lists no deployment of a wanted name. */
  unmatched: { label: string };
  /** The service has no list of deployments, so a wanted name cannot be resolved. */
  'no-list': { label: string };
  /** The service does not answer a question, which is repeated until it does. */
  unanswered: { question: 'list' | 'get'; reason: string };
}

export type FindingType = keyof Facts;
type FindingOf<T extends FindingType> = { readonly type: T } & Readonly<Facts[T]>;
export type Finding = { [T in FindingType]: FindingOf<T> }[FindingType];
/** New findings of one type: one line of a log, however many deployments they are about. */
export type DiscoveryNotice = {
  [T in FindingType]: { readonly type: T; readonly found: readonly FindingOf<T>[] };
}[FindingType];

/** A finding that was gone and came back is not reported again within this time, ms. */
const REPORT_AGAIN_MS = 10 * 60_000;
/** Without a name or a TTL, deployments may not be kept alive: that is reported again while it lasts, ms. */
const REMIND: ReadonlySet<FindingType> = new Set(['unmatched', 'no-list', 'unanswered']);
const REMIND_EVERY_MS = 60_000;

/** Reports each finding when it appears, not each time it comes and goes. */
export class FindingReports {
  readonly #reportedAt = new Map<string, number>();

  /** What is new among all current findings, by type. `now`: monotonic ms. */
  newOf(findings: readonly Finding[], now: number): DiscoveryNotice[] {
    const current = new Map(findings.map((finding) => [keyOf(finding), finding]));
    for (const [key, at] of this.#reportedAt)
      if (!current.has(key) && now - at >= REPORT_AGAIN_MS) this.#reportedAt.delete(key);
    const fresh = [...current].flatMap(([key, finding]) => {
      const at = this.#reportedAt.get(key);
      if (at !== undefined && !(REMIND.has(finding.type) && now - at >= REMIND_EVERY_MS)) return [];
      this.#reportedAt.set(key, now);
      return [finding];
    });
    return [...Map.groupBy(fresh, ({ type }) => type)].map(
      ([type, found]) => ({ type, found }) as DiscoveryNotice,
    );
  }
}

/** The reason may change from one attempt to the next, which makes no new finding. */
function keyOf(finding: Finding): string {
  return finding.type === 'unanswered' ? `unanswered ${finding.question}` : JSON.stringify(finding);
}
