/**
 * What the heart logs about the app that its deployments are kept alive for: that it is not well, that they are
 * released, again each minute, and that they are lit again. Whatever the app does, each of the lines about its health
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
  #isUnwell = false;

  /** `deploymentIds`: those that are kept alive now. */
  constructor(log: HeartLog, deploymentIds: () => readonly number[]) {
    this.#log = log;
    this.#deploymentIds = deploymentIds;
  }

  news(news: AppNews): void {
    switch (news.type) {
      case 'well':
        if (!this.#isUnwell || !this.#isTime('well')) return;
        this.#isUnwell = false;
        return this.#log.info({}, 'the app is well again');
      case 'unwell': {
        if (!this.#isTime('unwell')) return;
        this.#isUnwell = true;
        const releasedInSeconds = seconds(news.releasedInMs);
        return this.#log.warn(
          { ...this.#named(), why: news.why, releasedInSeconds },
          'the app is not well; heartbeats go on within PILOTLIGHT_APP_GRACE',
        );
      }
      case 'released':
        if (!this.#isTime('released')) return;
        return this.#log.error(
          { ...this.#named(), why: news.why, unwellSeconds: seconds(news.unwellMs) },
          'the deployments are released: the app was not well for PILOTLIGHT_APP_GRACE, so no heartbeat is sent and their TTL ends them',
        );
      case 'relit':
        return this.#sayRelit(news);
    }
  }

  /** Each time: heartbeats began again. And the next release is news. */
  #sayRelit({ because, deployments, tooLate }: Extract<AppNews, { type: 'relit' }>): void {
    this.#saidAt.clear();
    this.#isUnwell = false;
    const cause = because === 'well' ? 'the app is well again' : 'the configuration changed';
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
