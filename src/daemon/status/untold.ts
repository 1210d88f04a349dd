/** Changes by advice that the status cannot tell are told in the log, once each: it is asked for every few seconds. */
import type { Logger } from 'pino';
import type { Change } from '../../scaling/autotune/state.ts';
import type { OnUntold } from './autotune.ts';

export function untoldTo(logger: Logger): OnUntold {
  const said = new WeakSet<Change>();
  return (change, error) => {
    if (said.has(change)) return;
    said.add(change);
    const { id, endpointId } = change;
    logger.error(
      { err: error, change: id, endpointId },
      'a change of parameters cannot be told: what is stored of it is not whole',
    );
  };
}
