/**
 * Writing to Redis under a lease: all commands or none, refused when the lease has gone to another replica, and a second
 * time without effect, for an answer may be lost.
 */
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import type { Redis } from './redis.ts';

export type Command = readonly string[];

const COMMIT = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
local version = redis.call('GET', KEYS[2]) or '0'
if not string.match(version, '^-?%d+$') then version = '0' end
if version == ARGV[3] then
  if redis.call('GET', KEYS[3]) == ARGV[1] then return 1 end
  return -2
end
if version ~= ARGV[2] then return -2 end
local at = 4
while at <= #ARGV do
  local count = tonumber(ARGV[at])
  redis.call(unpack(ARGV, at + 1, at + count))
  at = at + count + 1
end
redis.call('SET', KEYS[2], ARGV[3])
redis.call('SET', KEYS[3], ARGV[1])
return 1`;

/** The lease is another's, or Redis has not the version that was written last: nothing was changed. */
export class LeaseLost extends PilotlightError {
  readonly code = 'lease_lost';
  readonly actor = 'service';
}

export interface Fence {
  /** Key of the lease, and what its holder has put there. */
  readonly lease: string;
  readonly token: string;
  /** Key of what counts the commits; the version that it must have, and the one that it gets. */
  readonly version: string;
  readonly from: number;
  readonly to: number;
}

/** @throws LeaseLost; any other error leaves open whether it was applied: then commit the same again. */
export async function commitFenced(
  redis: Redis,
  { lease, token, version, from, to }: Fence,
  commands: readonly Command[],
): Promise<void> {
  const flat = commands.flatMap((command) => [String(command.length), ...command]);
  const fence = [token, String(from), String(to)];
  const keys = [lease, version, writerOf(version)];
  const answer = await redis.command('EVAL', COMMIT, String(keys.length), ...keys, ...fence, ...flat);
  if (answer === -1) throw new LeaseLost('the lease has gone to another replica');
  if (answer === -2) throw new LeaseLost('Redis has not what was written to it last');
}

/**
 * The key that says who made the last commit, of the one that counts them: another's may have the same number as one of this
 * replica that did not arrive.
 */
function writerOf(version: string): string {
  return `${version}:writer`;
}
