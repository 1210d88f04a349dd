/**
 * The troubles of an endpoint. A finding must last for a while to be a trouble, and be away for a while
 * to end it.
 */
import type { FleetNotice } from '../notices.ts';
import { DETECTORS, TROUBLE_NAMES, type Detector, type Evidence, type TroubleName } from './detectors.ts';
import { TroubleMemory, type EndpointLook } from './memory.ts';

export interface Trouble extends Pick<Detector, 'severity'>, Pick<Evidence, 'says'> {
  /** First seen, Unix ms. */
  readonly sinceMs: number;
}

/** null: all is well. Missing: cannot be judged. */
export type Troubles = Readonly<Partial<Record<TroubleName, Trouble | null>>>;

/** A finding that is there, or was until lately. */
interface Sighting {
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly evidence: Evidence;
  readonly isTold: boolean;
}

export class EndpointTroubles {
  readonly #memory = new TroubleMemory();
  readonly #sightings = new Map<TroubleName, Sighting>();
  now: Troubles = {};
  #lastMs = -Infinity;

  /** Returns what began and ended, and workers that were replaced before they were ever ready. */
  judge(look: EndpointLook) {
    const churned = this.#memory.take(look);
    const notices: FleetNotice[] = [];
    const now = TROUBLE_NAMES.flatMap((name): [TroubleName, Trouble | null][] => {
      const evidence = DETECTORS[name].judge(look, this.#memory);
      if (evidence === undefined) return [];
      notices.push(...this.#follow(name, evidence, look));
      const { isTold, sinceMs, evidence: { says } = { says: '' } } = this.#sightings.get(name) ?? {};
      const { severity } = DETECTORS[name];
      return [[name, isTold && sinceMs !== undefined ? { severity, sinceMs, says } : null]];
    });
    this.#lastMs = look.atMs;
    this.now = Object.fromEntries(now);
    return { notices, churned };
  }

  #follow(name: TroubleName, evidence: Evidence | null, look: EndpointLook): FleetNotice[] {
    const { atMs, endpoint, gapMs } = look;
    const { forMs, endsAfterMs, severity } = DETECTORS[name];
    const known = this.#sightings.get(name);
    // An untold finding must be seen in consecutive looks.
    const last =
      known && (known.isTold || (gapMs !== undefined && known.lastMs === this.#lastMs)) ? known : undefined;
    if (evidence) {
      const sinceMs = last?.sinceMs ?? atMs;
      const isTold = atMs - sinceMs >= forMs;
      this.#sightings.set(name, { sinceMs, lastMs: atMs, evidence, isTold });
      const begins = isTold && !last?.isTold;
      return begins ? [{ kind: 'trouble begun', endpoint, trouble: name, severity, evidence }] : [];
    }
    if (last?.isTold && atMs - last.lastMs < endsAfterMs) return [];
    this.#sightings.delete(name);
    if (!last?.isTold) return [];
    return [{ kind: 'trouble ended', endpoint, trouble: name, seconds: (atMs - last.sinceMs) / 1000 }];
  }
}
