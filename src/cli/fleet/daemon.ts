/** What a running daemon says of its endpoints. */
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import type { FleetHistory } from '../../daemon/http/fleet/answer.ts';
import type { Status } from '../../daemon/status/schema.ts';

const TIMEOUT_MS = 5_000;

/** Why the daemon could not be asked; `message` is for a person. */
export class DaemonAway extends PilotlightError {
  readonly code = 'daemon_away';
  readonly actor = 'user';
}

/** @throws DaemonAway also where something else answers, or a daemon that knows no endpoints yet. */
export async function fetchStatus(url: string, signal: AbortSignal): Promise<Status> {
  const status = await fetchJson<Partial<Status> | null>(`${url}/api/status`, signal);
  if (!Array.isArray(status?.fleet?.endpoints))
    throw new DaemonAway(
      `${url}: what answers there says nothing of endpoints; is it a daemon of this version?`,
    );
  return status as Status;
}

/** The last hour, of one endpoint or of all. */
export function fetchHistory(
  url: string,
  endpoint: string | undefined,
  signal: AbortSignal,
): Promise<FleetHistory> {
  const query = new URLSearchParams({
    from: '-1h',
    rows: '240',
    ...(endpoint !== undefined && { endpoint }),
  });
  return fetchJson(`${url}/api/fleet?${query.toString()}`, signal);
}

async function fetchJson<T>(url: string, signal: AbortSignal): Promise<T> {
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return (await response.json()) as T;
  } catch (error) {
    signal.throwIfAborted();
    const { message, cause } = error as Error;
    throw new DaemonAway(`${url}: ${cause instanceof Error ? cause.message : message}`, { cause: error });
  }
}
