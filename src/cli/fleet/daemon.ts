/** What a running daemon says: of itself, and of its endpoints. */
import { EXIT } from '../../config/exit-codes.ts';
import type * as z from 'zod';
import { statusSchema } from '../../daemon/status/schema.ts';
import { CommandError } from '../console.ts';
import { legibleLine } from '../text.ts';
import { isRecord } from '../../contract/is-record.ts';

const TIMEOUT_MS = 5_000;

export class DaemonAway extends CommandError {
  override readonly code = 'daemon_away';

  constructor(message: string, options?: ErrorOptions) {
    super(legibleLine(message), EXIT.unreachable, options);
  }
}

export interface DaemonAddress {
  readonly url: string;
  /** Undefined: none is known. */
  readonly token: string | undefined;
}

/** The part of the status that `fleet` needs: the rest may be of another version. */
export const fleetSchema = statusSchema.pick({ now: true, replica: true, fleet: true });

/** @throws as fetchJson; DaemonAway also for an answer that cannot be read */
export async function fetchStatus<Schema extends z.ZodType>(
  daemon: DaemonAddress,
  schema: Schema,
  signal?: AbortSignal,
): Promise<z.infer<Schema>> {
  const read = schema.safeParse(await fetchJson(daemon, '/api/status', signal));
  if (read.success) return read.data;
  throw new DaemonAway(
    `${daemon.url}: its answer has no status that can be read; is it a daemon of this version?`,
  );
}

/** @throws DaemonAway, CommandError for a missing or wrong token, the reason of `signal` */
export async function fetchJson(
  { url, token }: DaemonAddress,
  path: string,
  signal = new AbortController().signal,
): Promise<unknown> {
  try {
    const response = await fetch(url + path, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
    if (response.ok) return await response.json();
    if (response.status !== 401) throw new Error(`status ${response.status}${await saidIn(response)}`);
  } catch (error) {
    signal.throwIfAborted();
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? `${cause.message}; is a daemon running there?` : message;
    throw new DaemonAway(`${url}${path}: ${why}`, { cause: error });
  }
  const wanted = `the daemon wants ${token === undefined ? 'a' : 'another'} token`;
  const variables = 'PILOTLIGHT_METRICS_TOKEN, or PILOTLIGHT_METRICS_TOKEN_FILE';
  throw new CommandError(legibleLine(`${url}: ${wanted}: ${variables}`), EXIT.unauthorized);
}

async function saidIn(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined);
  return isRecord(body) && typeof body['msg'] === 'string' ? `: ${body['msg']}` : '';
}
