/** What a person should know about the deployments that are wanted and the questions about them: data, no text. */

/** All times in ms. */
export type Finding =
  /** The TTL that the user gave is not the service's; `learned` null: it lives until it is deleted. */
  | {
      readonly type: 'ttl-differs';
      readonly id: number;
      readonly given: number;
      readonly learned: number | null;
      readonly used: number;
    }
  /** The configured interval does not suit the TTL, so the automatic one is used. */
  | {
      readonly type: 'interval-gives-way';
      readonly id: number;
      readonly ttl: number;
      readonly interval: number;
      readonly atMost: number | undefined;
    }
  /** Even the shortest interval leaves no time for one failed heartbeat. */
  | { readonly type: 'ttl-too-short'; readonly id: number; readonly ttl: number; readonly atLeast: number }
  /** A deployment of a wanted name is stopped, and so it is not kept alive. */
  | { readonly type: 'stopped'; readonly id: number; readonly label: string }
  /** The deployments of a wanted name. */
  | { readonly type: 'matched'; readonly label: string; readonly ids: readonly number[] }
  /** The service lists no deployment of a wanted name. */
  | { readonly type: 'unmatched'; readonly label: string }
  /** The service has no list of deployments, so a wanted name cannot be resolved. */
  | { readonly type: 'no-list'; readonly label: string }
  /** The service does not answer a question, which is repeated until it does. */
  | { readonly type: 'unanswered'; readonly question: 'list' | 'get'; readonly reason: string };

export type FindingType = Finding['type'];

/** New findings of one type: one line of a log, however many deployments they are about. */
export type Remark = {
  readonly [T in FindingType]: { readonly type: T; readonly found: readonly Extract<Finding, { type: T }>[] };
}[FindingType];

/** A finding is not told again within this time, even if it was gone in between, ms. */
const SAY_AGAIN_MS = 10 * 60_000;
/** While a name or a TTL cannot be found, deployments may not be kept alive: that is told again, ms. */
const STANDING: ReadonlySet<FindingType> = new Set(['unmatched', 'no-list', 'unanswered']);
const STANDING_AGAIN_MS = 60_000;

/** Tells each finding when it appears, not each time it comes and goes; most are not repeated while they last. */
export class News {
  #current = new Set<string>();
  readonly #saidAt = new Map<string, number>();

  /** What is new among all findings there are at a monotonic time, by type. */
  of(findings: readonly Finding[], now: number): Remark[] {
    const before = this.#current;
    this.#current = new Set(findings.map((finding) => keyOf(finding)));
    for (const [key, saidAt] of this.#saidAt) if (now - saidAt >= SAY_AGAIN_MS) this.#saidAt.delete(key);
    const fresh = findings.filter((finding) => {
      const key = keyOf(finding);
      const saidAt = this.#saidAt.get(key);
      const again = STANDING.has(finding.type) && now - (saidAt ?? now) >= STANDING_AGAIN_MS;
      if (!again && (before.has(key) || saidAt !== undefined)) return false;
      this.#saidAt.set(key, now);
      return true;
    });
    const byType = Map.groupBy(fresh, ({ type }) => type);
    return [...byType].map(([type, found]) => ({ type, found }) as Remark);
  }
}

/** The reason may change from one attempt to the next, which makes no new finding. */
function keyOf(finding: Finding): string {
  return finding.type === 'unanswered' ? `unanswered ${finding.question}` : JSON.stringify(finding);
}
