/**
 * What the heart logs about the app that its deployments are kept alive for: that it is not well, that heartbeats are
 * withheld, again each minute, and that they resume. Whatever the app does, each of the lines about its health
 * comes once a minute at most, so that one that is well and not well in turns floods nothing.
 */
import type { AppNews } from '../../heart.ts';
import type { HeartLog } from './log.ts';

const SAY_AGAIN_MS = 60_000;
/** How many ids a line names. */
const NAMED = 20;

export class AppLines {
  readonly #log: HeartLog;
  readonly #deploymentIds: () => readonly number[];
  /** When each was said last, monotonic ms. */
  readonly #saidAt = new Map<AppNews['type'], number>();
  /** Whether it was said that the app is not well, and not yet that it is. */
  #isUnhealthy = false;

  /** `deploymentIds`: those that are kept alive now. */
  constructor(log: HeartLog, deploymentIds: () => readonly number[]) {
    this.#log = log;
    this.#deploymentIds = deploymentIds;
  }

  news(news: AppNews): void {
    switch (news.type) {
      case 'healthy':
        if (!this.#isUnhealthy || !this.#isTime('healthy')) return;
        this.#isUnhealthy = false;
        return this.#log.info({}, 'the app is well again');
      case 'unhealthy': {
        if (!this.#isTime('unhealthy')) return;
        this.#isUnhealthy = true;
        const withheldInSeconds = seconds(news.withheldInMs);
        return this.#log.warn(
          { ...this.#named(), why: news.why, withheldInSeconds },
          'the app is not well; heartbeats go on within PILOTLIGHT_APP_GRACE',
        );
      }
      case 'withheld':
        if (!this.#isTime('withheld')) return;
        return this.#log.error(
          { ...this.#named(), why: news.why, unhealthySeconds: seconds(news.unhealthyMs) },
          'the app was unhealthy for PILOTLIGHT_APP_GRACE: heartbeats are withheld, and the deployments will expire',
        );
      case 'resumed':
        return this.#sayResumed(news);
    }
  }

  /** Each time: heartbeats began again. And the next release is news. */
  #sayResumed({ because, deployments, tooLate }: Extract<AppNews, { type: 'resumed' }>): void {
    this.#saidAt.clear();
    this.#isUnhealthy = false;
    const cause = because === 'healthy' ? 'the app is well again' : 'the configuration changed';
    const fields = {
      deployments,
      ...(tooLate.length > 0 && { tooLate: tooLate.length, deploymentIds: tooLate.slice(0, NAMED) }),
    };
    const hope =
      tooLate.length > 0 ? ', though some may be lost: they had less time left than one takes' : '';
    this.#log.warn(fields, `${cause}: heartbeats are sent at once${hope}`);
  }

  #named(): { readonly deployments: number; readonly deploymentIds: readonly number[] } {
    const ids = this.#deploymentIds();
    return { deployments: ids.length, deploymentIds: ids.slice(0, NAMED) };
  }

  #isTime(type: AppNews['type']): boolean {
    const now = performance.now();
    if (now - (this.#saidAt.get(type) ?? -Infinity) < SAY_AGAIN_MS) return false;
    this.#saidAt.set(type, now);
    return true;
  }
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
