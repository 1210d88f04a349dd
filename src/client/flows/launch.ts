/**
 * Launching an instance is several calls: rent an offer, wait for `running`, give up on one that will never
 * run (§3), destroy it and try the next. Nothing that was rented is left behind.
 */
import { FINAL_INSTANCE_STATUSES } from '../../contract/operations/instances/instance-list.ts';
import { envMapOf, parseEnvFlags } from '../../contract/text/env-flags.ts';
import { FlagError } from '../../contract/text/shell-words.ts';
import type { Input } from '../../contract/operations.ts';
import type { Client } from '../client.ts';
import { delay } from '../delay.ts';
import { AbortedError, ApiError, CallError, RequestError } from '../errors.ts';
import { fitOnstart } from './onstart.ts';

/** The request of §2.3; `env` as its map, or as container flags: `-e NAME=value -p 8000:8000`. */
export type LaunchRequest = Omit<Input<'instances.create'>, 'offer_id' | 'env'> & {
  readonly env?: string | Input<'instances.create'>['env'];
};

export interface LaunchOptions {
  /** Offer ids in the order in which to try them. */
  readonly offers: readonly number[];
  /** Everything but the offer; an `onstart` that is too long is packed, `env` may be container flags. */
  readonly request: LaunchRequest;
  /** Longest wait for `running` in ms, for each offer. Default 10 minutes. */
  readonly timeoutMs?: number;
  /** Between two looks at the status in ms. Default 5 s. */
  readonly pollMs?: number;
  readonly signal?: AbortSignal;
  /** Destroys an instance; default: the public dialect's operation. Called for each that is given up. */
  readonly destroy?: (instanceId: number, signal: AbortSignal) => Promise<unknown>;
  readonly onProgress?: (progress: LaunchProgress) => void;
}

export type LaunchProgress =
  | { readonly step: 'rented'; readonly offerId: number; readonly instanceId: number }
  | { readonly step: 'status'; readonly instanceId: number; readonly status: string }
  | { readonly step: 'given up'; readonly offerId: number; readonly reason: string };

export interface Launched {
  readonly instanceId: number;
  readonly offerId: number;
  /** Offers that were tried before, and why each was given up. */
  readonly givenUp: readonly GivenUp[];
}

export interface GivenUp {
  readonly offerId: number;
  /** Undefined when the offer could not be rented. */
  readonly instanceId: number | undefined;
  readonly reason: string;
  /** False when destroying it failed too: it may still cost money. */
  readonly destroyed: boolean;
}

/**
 * No offer led to a running instance, and `givenUp` has the reasons; or another error, its `cause`, ended the launch, and
 * not all that was rented could be destroyed.
 */
export class LaunchError extends CallError {
  readonly code = 'launch_failed';
  readonly actor = 'user';
  readonly givenUp: readonly GivenUp[];

  constructor(givenUp: readonly GivenUp[], options?: ErrorOptions) {
    const reasons = givenUp.map(({ offerId, reason, instanceId, destroyed }) => {
      const left =
        instanceId !== undefined && !destroyed ? ` (instance ${instanceId} was NOT destroyed)` : '';
      return `offer ${offerId}: ${reason}${left}`;
    });
    super(
      'instances.create',
      `no offer led to a running instance: ${reasons.join('; ') || 'no offers given'}`,
      options,
    );
    this.givenUp = givenUp;
  }
}

const DEFAULT_TIMEOUT_MS = 10 * 60_000;
const DEFAULT_POLL_MS = 5_000;
/** For destroying what was rented, also after the caller has aborted. */
const CLEAN_UP_MS = 30_000;
/** After the caller has aborted, for the answer that says what was rented meanwhile. */
const GRACE_MS = 10_000;
/** The longest that a timer takes. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * @throws LaunchError when every offer failed, and instead of any other error where something that was rented could not
 *   be destroyed; AbortedError when the signal fired (what was rented is destroyed first); RequestError for bad input,
 *   before anything is sent; any other error of `instances.create`
 */
export async function launchInstance(client: Client, options: LaunchOptions): Promise<Launched> {
  const { offers, signal = NEVER, onProgress = () => {} } = options;
  const request = prepare(options.request);
  const destroy = options.destroy ?? ((id, limit) => client.instances.destroy({ id }, { signal: limit }));
  const givenUp: GivenUp[] = [];

  /** What ends the launch, with what was left behind. */
  function ended(cause: unknown, offerId: number, left: Omit<GivenUp, 'offerId' | 'reason'>): unknown {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const all = [...givenUp, { offerId, reason, ...left }];
    const isClean = all.every((each) => each.instanceId === undefined || each.destroyed);
    return isClean ? cause : new LaunchError(all, { cause });
  }

  for (const offerId of offers) {
    const rented = await rent(client, { ...request, offer_id: offerId }, signal).catch((error: unknown) => {
      const destroyed = !(error instanceof CallError && error.mayBeDone);
      throw ended(error, offerId, { instanceId: undefined, destroyed });
    });
    if (!rented.ok) {
      const { reason } = rented;
      onProgress({ step: 'given up', offerId, reason });
      givenUp.push({ offerId, instanceId: undefined, reason, destroyed: true });
      continue;
    }
    const { instanceId } = rented;
    onProgress({ step: 'rented', offerId, instanceId });
    let reason: string | undefined;
    try {
      reason = await waitUntilRunning(client, instanceId, options);
    } catch (error) {
      throw ended(error, offerId, { instanceId, destroyed: await tryDestroy(destroy, instanceId) });
    }
    if (reason === undefined) return { instanceId, offerId, givenUp };
    onProgress({ step: 'given up', offerId, reason });
    givenUp.push({ offerId, instanceId, reason, destroyed: await tryDestroy(destroy, instanceId) });
  }
  throw new LaunchError(givenUp);
}

/** @throws RequestError for an `env` that does not parse, and for an `onstart` that is too long even packed */
function prepare({ env, onstart, ...rest }: LaunchRequest): Omit<Input<'instances.create'>, 'offer_id'> {
  return {
    ...rest,
    ...(onstart !== undefined && { onstart: fitOnstart(onstart) }),
    ...(env !== undefined && { env: typeof env === 'string' ? envOfFlags(env) : env }),
  };
}

function envOfFlags(flags: string): Record<string, string> {
  try {
    return envMapOf(parseEnvFlags(flags));
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    throw new RequestError('instances.create', [{ field: 'env', message: error.message, value: flags }]);
  }
}

type Rented =
  | { readonly ok: true; readonly instanceId: number }
  | { readonly ok: false; readonly reason: string };

/**
 * The instance, or why the offer cannot be rented. A failure that leaves open whether it was rented is thrown: trying
 * the next offer might rent two.
 */
async function rent(client: Client, input: Input<'instances.create'>, signal: AbortSignal): Promise<Rented> {
  try {
    const options = { signal, graceMs: GRACE_MS };
    return { ok: true, instanceId: (await client.instances.create(input, options)).new_contract };
  } catch (error) {
    const taken = error instanceof ApiError && (error.status === 404 || error.status === 410);
    if (taken && error.errorCode !== 'not_found') return { ok: false, reason: error.said };
    throw error;
  }
}

/** Undefined once it runs, else why it never will. */
async function waitUntilRunning(
  client: Client,
  instanceId: number,
  { timeoutMs = DEFAULT_TIMEOUT_MS, pollMs = DEFAULT_POLL_MS, signal = NEVER, onProgress }: LaunchOptions,
): Promise<string | undefined> {
  let last = '';
  // Timers know no steps of the clock.
  const deadline = AbortSignal.timeout(Math.min(timeoutMs, LONGEST_MS));
  const ending = AbortSignal.any([signal, deadline]);
  do {
    const status = (await statusOf(client, instanceId, signal, ending)) ?? (last || 'created');
    if (status !== last) onProgress?.({ step: 'status', instanceId, status });
    last = status;
    if (status === 'running') return undefined;
    if ((FINAL_INSTANCE_STATUSES as readonly string[]).includes(status)) return `it became ${status}`;
    await delay(pollMs, ending).catch((cause: unknown) => {
      if (!signal.aborted) return;
      throw new AbortedError('instances.create', 'aborted while waiting for the instance to run', { cause });
    });
  } while (!deadline.aborted);
  return `not running after ${timeoutMs / 1000} s, still ${last}`;
}

/** Undefined when the service does not say now: one failed look is no reason to give up what was rented. */
async function statusOf(
  client: Client,
  instanceId: number,
  signal: AbortSignal,
  ending: AbortSignal,
): Promise<string | undefined> {
  try {
    const { instances } = await client.instances.list({}, { signal: ending });
    return instances.find(({ id }) => id === instanceId)?.actual_status?.toLowerCase();
  } catch (error) {
    if (error instanceof AbortedError && !signal.aborted) return undefined;
    if (error instanceof CallError && error.actor === 'service') return undefined;
    throw error;
  }
}

async function tryDestroy(
  destroy: (instanceId: number, signal: AbortSignal) => Promise<unknown>,
  instanceId: number,
): Promise<boolean> {
  try {
    await destroy(instanceId, AbortSignal.timeout(CLEAN_UP_MS));
    return true;
  } catch {
    return false;
  }
}

const NEVER = new AbortController().signal;
