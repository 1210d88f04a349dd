/** Opens a file that another process may still have: the daemon before this one may not have ended yet. */
import type { Clock } from '../time/clock.ts';
import { FileInUse } from './database-file.ts';

/** How long to wait, and between two tries, ms. */
const IN_USE_MS = 5_000;
const TRY_EVERY_MS = 200;

/** @throws What `open` throws, FileInUse after 5 s, and the reason of `signal`. */
export async function openOnceFree<Opened>(
  open: () => Opened,
  clock: Clock,
  signal: AbortSignal,
): Promise<Opened> {
  for (let waitedMs = 0; ; waitedMs += TRY_EVERY_MS) {
    try {
      return open();
    } catch (error) {
      if (!(error instanceof FileInUse) || waitedMs >= IN_USE_MS) throw error;
    }
    await clock.sleep(TRY_EVERY_MS, signal);
  }
}
