/** Opens where the history is kept, once no other process has it: the daemon before this one may still end. */
import { FileInUse } from '../../../storage/database-file.ts';
import type { Clock } from '../../../time/clock.ts';
import type { HistoryStore, StoredState } from '../store.ts';

/** How long to wait, and between two looks, ms. */
const IN_USE_MS = 5_000;
const LOOK_MS = 200;

/** @throws What the store throws, and the reason of `signal`. */
export async function openOnceFree(
  store: HistoryStore,
  clock: Clock,
  signal: AbortSignal,
): Promise<StoredState> {
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    try {
      return await store.open();
    } catch (error) {
      if (!(error instanceof FileInUse) || waitedMs >= IN_USE_MS) throw error;
    }
    await clock.sleep(LOOK_MS, signal);
  }
}
