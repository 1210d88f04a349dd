/** What a running daemon says: of itself, and of its endpoints. */
import { EXIT } from '../../config/exit-codes.ts';
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import { statusSchema, type Status } from '../../daemon/status/schema.ts';
import { printError, type Console } from '../console.ts';
import { legibleLine } from '../text/legible.ts';

const TIMEOUT_MS = 5_000;

/** Why the daemon could not be asked; `message` is for a person. */
export class DaemonAway extends PilotlightError {
  readonly code = 'daemon_away';
  readonly actor = 'user';
}

/** It wants a token that this environment does not have. */
export class DaemonClosed extends PilotlightError {
  readonly code = 'daemon_closed';
  readonly actor = 'user';
}

/** A running daemon, as a command reaches it. */
export interface DaemonAddress {
  readonly url: string;
  /** What it may ask for; undefined: none is known. */
  readonly token: string | undefined;
}

/** What of the status these commands go by: the rest of it may be another's. */
const known = statusSchema.pick({ now: true, replica: true, fleet: true });

export type KnownStatus = Pick<Status, keyof typeof known.shape>;

/** @throws DaemonAway also where something else answers, or a daemon of another shape. */
export async function fetchStatus(daemon: DaemonAddress, signal: AbortSignal): Promise<KnownStatus> {
  const status = await fetchJson<unknown>(daemon, '/api/status', signal);
  if (!known.safeParse(status).success) throw another(daemon);
  return status as KnownStatus;
}

/** All of it. @throws As fetchStatus. */
export async function fetchWholeStatus(daemon: DaemonAddress, signal: AbortSignal): Promise<Status> {
  const status = await fetchJson<unknown>(daemon, '/api/status', signal);
  if (!statusSchema.safeParse(status).success)
    throw new DaemonAway(
      `${daemon.url}: what answers there has no status that can be read; is it a daemon of this version?`,
    );
  return status as Status;
}

function another({ url }: DaemonAddress): DaemonAway {
  return new DaemonAway(
    `${url}: what answers there says nothing of endpoints that can be read; is it a daemon of this version?`,
  );
}

/** @throws DaemonAway, DaemonClosed, and the reason of `signal`. */
export async function fetchJson<T>(
  { url, token }: DaemonAddress,
  path: string,
  signal: AbortSignal,
): Promise<T> {
  try {
    const response = await fetch(url + path, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
    if (response.status === 401)
      throw new DaemonClosed(
        `${url}: the daemon wants ${token === undefined ? 'a' : 'another'} token: PILOTLIGHT_METRICS_TOKEN, or PILOTLIGHT_METRICS_TOKEN_FILE`,
      );
    if (!response.ok) throw new Error(`status ${response.status}`);
    return (await response.json()) as T;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof DaemonClosed) throw error;
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? `${cause.message}; is a daemon running there?` : message;
    throw new DaemonAway(`${url}${path.split('?')[0]}: ${why}`, { cause: error });
  }
}

/** A command that cannot ask the daemon says why. @returns The exit code. @throws All else. */
export function saidOfDaemon(console: Console, error: unknown): number {
  if (!(error instanceof DaemonAway || error instanceof DaemonClosed)) throw error;
  printError(console, legibleLine(error.message));
  return error instanceof DaemonClosed ? EXIT.unauthorized : EXIT.unreachable;
}
