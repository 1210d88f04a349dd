/** Launches an instance: rent an offer, wait for `running`, or destroy it and try the next (§3). */
import { gzipSync } from 'node:zlib';
import { messageOf } from '../../contract/pilotlight-error.ts';
import { FINAL_INSTANCE_STATUSES } from '../../contract/operations/instances/instance-list.ts';
import { envMapOf, parseEnvFlags } from '../../contract/text/env-flags.ts';
import { FlagError } from '../../contract/text/shell-words.ts';
import { isRecord } from '../../contract/is-record.ts';
import { LIMITS } from '../../contract/limits.ts';
import { OPERATIONS, type Input } from '../../contract/operations.ts';
import { countCharacters } from '../../contract/schemas.ts';
import type { Client } from '../client.ts';
import { delay, LONGEST_MS, NEVER } from '../retry.ts';
import { AbortedError, ApiError, CallError, RequestError } from '../errors.ts';
import { encodeRequest, type InputProblem } from '../../wire/request.ts';
import { listInstances } from './lists.ts';

/** The request of §2.3; `env` as its map, or as container flags: `-e NAME=value -p 8000:8000`. */
type LaunchRequest = Omit<Input<'instances.create'>, 'offer_id' | 'env'> & {
  readonly env?: string | Input<'instances.create'>['env'];
};

/** Offers in order, the request, and how long to wait. Times in ms. */
export interface LaunchOptions {
  /** Offer ids in the order in which to try them. */
  readonly offers: readonly number[];
  /** Everything but the offer. An `onstart` that is too long is packed. */
  readonly request: LaunchRequest;
  /** Longest wait for `running` in ms, per offer. Default 10 minutes. */
  readonly timeoutMs?: number;
  /** Time between two polls, and between two tries to destroy, in ms. Default 5 s. */
  readonly pollMs?: number;
  readonly signal?: AbortSignal;
  /** Destroys an instance that is given up, and ends with its signal. Default: the public dialect's operation. */
  readonly destroy?: (instanceId: number, signal: AbortSignal) => Promise<unknown>;
  readonly onProgress?: (progress: LaunchProgress) => void;
}

/** A step of `launchInstance`. */
export type LaunchProgress =
  | { readonly step: 'rented'; readonly offerId: number; readonly instanceId: number }
  | { readonly step: 'status'; readonly instanceId: number; readonly status: string }
  | { readonly step: 'given up'; readonly offerId: number; readonly reason: string }
  /** It may cost money. The launch tries again until it ends. */
  | { readonly step: 'not destroyed'; readonly instanceId: number; readonly reason: string };

/** The instance that runs. */
export interface Launched {
  readonly instanceId: number;
  readonly offerId: number;
  /** Offers that failed before; their instances are destroyed. */
  readonly givenUp: readonly GivenUp[];
}

interface GivenUp {
  readonly offerId: number;
  /** Undefined if the offer could not be rented. */
  readonly instanceId: number | undefined;
  readonly reason: string;
}

/** No offer led to a running instance. `givenUp` has the reasons; nothing is left behind. */
export class LaunchError extends CallError {
  readonly code = 'launch_failed';
  readonly actor = 'user';
  readonly givenUp: readonly GivenUp[];

  constructor(givenUp: readonly GivenUp[], options?: ErrorOptions) {
    const reasons = givenUp.map(({ offerId, reason }) => `offer ${offerId}: ${reason}`);
    const why = reasons.join('; ') || 'no offers given';
    super('instances.create', `no offer led to a running instance: ${why}`, options);
    this.givenUp = givenUp;
  }
}

/** Something rented may still cost money: destroy it by hand. `cause` is what ended the launch. */
export class LeftBehindError extends CallError {
  readonly code = 'instance_left_behind';
  readonly actor = 'user';
  /** Instances that could not be destroyed. */
  readonly instanceIds: readonly number[];
  /** An offer whose rental was not answered. */
  readonly offerId: number | undefined;
  readonly launched: Launched | undefined;

  constructor(
    left: { readonly instanceIds: readonly number[]; readonly offerId: number | undefined },
    launched: Launched | undefined,
    options?: ErrorOptions,
  ) {
    const { instanceIds, offerId } = left;
    const parts = [
      ...instanceIds.map((id) => `instance ${id} could not be destroyed and may cost money`),
      ...(offerId === undefined ? [] : [`offer ${offerId} may have been rented: its answer was lost`]),
      ...(launched === undefined ? [] : [`instance ${launched.instanceId} runs`]),
    ];
    super('instances.destroy', parts.join('; '), options);
    this.instanceIds = instanceIds;
    this.offerId = offerId;
    this.launched = launched;
  }
}

const DEFAULT_TIMEOUT_MS = 10 * 60_000;
const DEFAULT_POLL_MS = 5_000;
const CLEAN_UP_MS = 30_000;
const DESTROY_ATTEMPTS = 3;
/** Longest wait for the answer to a rental after an abort. */
const GRACE_MS = 10_000;

/**
 * Rents offers in order until an instance runs, and destroys each that is given up.
 * @throws LeftBehindError if a rented instance could not be destroyed; else LaunchError if every offer
 * failed; AbortedError when the signal fired; RequestError for bad input; other errors of `instances.create`
 */
export async function launchInstance(client: Client, options: LaunchOptions): Promise<Launched> {
  const { offers, timeoutMs = DEFAULT_TIMEOUT_MS, pollMs = DEFAULT_POLL_MS } = options;
  const { signal = NEVER, onProgress = () => {} } = options;
  const settings: Settings = { timeoutMs, pollMs, signal, onProgress };
  const request = prepare(options);
  const destroy = options.destroy ?? ((id, limit) => client.instances.destroy({ id }, { signal: limit }));
  const left = new Set<number>();
  const givenUp: GivenUp[] = [];

  function giveUp(offerId: number, instanceId: number | undefined, reason: string): undefined {
    onProgress({ step: 'given up', offerId, reason });
    givenUp.push({ offerId, instanceId, reason });
  }

  async function tryOffer(offerId: number): Promise<Launched | undefined> {
    const rented = await rent(client, { ...request, offer_id: offerId }, signal);
    if (typeof rented === 'string') return giveUp(offerId, undefined, rented);
    left.add(rented);
    onProgress({ step: 'rented', offerId, instanceId: rented });
    const reason = await waitUntilRunning(client, rented, settings);
    if (reason !== undefined) {
      giveUp(offerId, rented, reason);
      await destroyAll(left, destroy, settings);
      return undefined;
    }
    left.delete(rented);
    return { instanceId: rented, offerId, givenUp };
  }

  let launched: Launched | undefined;
  let failure: unknown;
  let asked: number | undefined;
  try {
    for (const offerId of offers) {
      asked = offerId;
      launched = await tryOffer(offerId);
      if (launched) break;
    }
    if (!launched) throw new LaunchError(givenUp);
  } catch (error) {
    failure = error;
  }
  await destroyAll(left, destroy, settings);
  const isLost =
    failure instanceof CallError && failure.operation === 'instances.create' && failure.mayBeDone;
  const offerId = isLost ? asked : undefined;
  if (left.size > 0 || offerId !== undefined)
    throw new LeftBehindError({ instanceIds: [...left], offerId }, launched, { cause: failure });
  if (!launched) throw failure;
  return launched;
}

type Settings = Required<Pick<LaunchOptions, 'timeoutMs' | 'pollMs' | 'signal' | 'onProgress'>>;

function prepare(options: LaunchOptions): Omit<Input<'instances.create'>, 'offer_id'> {
  const problems = optionProblems(options);
  const request: Record<string, unknown> = isRecord(options.request) ? { ...options.request } : {};
  const texts = { onstart: fitOnstart, env: (flags: string) => envMapOf(parseEnvFlags(flags)) };
  for (const [field, read] of Object.entries(texts)) {
    const text = request[field];
    if (typeof text !== 'string') continue;
    try {
      request[field] = read(text);
    } catch (error) {
      if (error instanceof RequestError) problems.push(...error.problems);
      else if (error instanceof FlagError) problems.push({ field, message: error.message });
      else throw error;
      delete request[field];
    }
  }
  const operation = OPERATIONS['instances.create'];
  const encoded = encodeRequest(operation, { ...request, offer_id: 0 }, 'key');
  if (!encoded.ok) problems.push(...encoded.problems);
  if (problems.length > 0) throw new RequestError('instances.create', problems);
  return request;
}

function optionProblems({ offers, timeoutMs = 1, pollMs = 1 }: LaunchOptions): InputProblem[] {
  const problems: InputProblem[] = [];
  const isOffer = (offer: unknown): boolean => Number.isInteger(offer) && Number(offer) >= 0;
  if (!Array.isArray(offers) || !offers.every(isOffer))
    problems.push({ field: 'offers', message: 'must be a list of offer ids', value: offers });
  if (!(timeoutMs > 0)) problems.push({ field: 'timeoutMs', message: 'must be above 0', value: timeoutMs });
  if (!(pollMs > 0 && pollMs <= LONGEST_MS))
    problems.push({ field: 'pollMs', message: `must be above 0 and at most ${LONGEST_MS}`, value: pollMs });
  return problems;
}

/** The id, or why the offer cannot be rented. Throws if the rental may have succeeded: the next offer could rent a second instance. */
async function rent(client: Client, input: Input<'instances.create'>, signal: AbortSignal) {
  try {
    const options = { signal, graceMs: GRACE_MS };
    return (await client.instances.create(input, options)).new_contract;
  } catch (error) {
    const taken = error instanceof ApiError && (error.status === 404 || error.status === 410);
    if (taken && error.errorCode !== 'not_found') return error.said;
    throw error;
  }
}

async function waitUntilRunning(
  client: Client,
  instanceId: number,
  { timeoutMs, pollMs, signal, onProgress }: Settings,
): Promise<string | undefined> {
  let last = '';
  const deadline = AbortSignal.timeout(Math.min(timeoutMs, LONGEST_MS));
  const ending = AbortSignal.any([signal, deadline]);
  do {
    const status = (await statusOf(client, instanceId, signal, ending)) ?? (last || 'created');
    if (status !== last) onProgress({ step: 'status', instanceId, status });
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

/** Undefined if the service does not say: one failed poll does not end a launch. */
async function statusOf(
  client: Client,
  instanceId: number,
  signal: AbortSignal,
  ending: AbortSignal,
): Promise<string | undefined> {
  try {
    const instances = await listInstances(client, { ids: [instanceId], signal: ending });
    return instances.find(({ id }) => id === instanceId)?.actual_status?.toLowerCase();
  } catch (error) {
    if (error instanceof AbortedError && !signal.aborted) return undefined;
    if (error instanceof CallError && error.actor === 'service') return undefined;
    throw error;
  }
}

async function destroyAll(
  left: Set<number>,
  destroy: (instanceId: number, signal: AbortSignal) => Promise<unknown>,
  { pollMs, onProgress }: Settings,
): Promise<void> {
  const deadline = AbortSignal.timeout(CLEAN_UP_MS);
  for (const instanceId of left) {
    for (let attempt = 1; left.has(instanceId); attempt += 1) {
      try {
        await destroy(instanceId, deadline);
        left.delete(instanceId);
      } catch (error) {
        if (error instanceof ApiError && error.meaning === 'not-found') left.delete(instanceId);
        else tell({ step: 'not destroyed', instanceId, reason: messageOf(error) }, onProgress);
      }
      if (attempt === DESTROY_ATTEMPTS) break;
      if (left.has(instanceId)) await delay(pollMs, deadline).catch(() => {});
    }
  }
}

/** A listener that throws must not stop the clean-up. */
function tell(progress: LaunchProgress, onProgress: Settings['onProgress']): void {
  try {
    onProgress(progress);
  } catch {}
}

/**
 * The script as it is if it fits (§8), else packed. It runs by the interpreter of its `#!` line, else by sh.
 * The image needs sh, base64, gzip and mktemp.
 * @throws RequestError with both lengths if it is still too long
 */
export function fitOnstart(script: string): string {
  const length = countCharacters(script);
  if (length <= LIMITS.onstartLength) return script;
  const packed = selfExtracting(script);
  const packedLength = countCharacters(packed);
  if (packedLength <= LIMITS.onstartLength) return packed;
  throw new RequestError('instances.create', [
    {
      field: 'onstart',
      message:
        `at most ${LIMITS.onstartLength} characters; this one has ${length}, and ${packedLength} compressed: ` +
        'put it into the image, or have a short script download it',
    },
  ]);
}

function selfExtracting(script: string): string {
  const data = gzipSync(script, { level: 9 }).toString('base64');
  return [
    '#!/bin/sh',
    'f=$(mktemp) || exit 1',
    `printf %s '${data}' | base64 -d | gzip -dc >"$f" || exit 1`,
    `${interpreter(script)} "$f"`,
    's=$?',
    'rm -f "$f"',
    'exit $s',
  ].join('\n');
}

function interpreter(script: string): string {
  return /^#!\s*(\/[\w/.+-]+(?: [\w.+-]+)*)[ \t\r]*\n/.exec(script)?.[1] ?? 'sh';
}
