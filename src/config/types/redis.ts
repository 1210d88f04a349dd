/** How the replicas find their Redis, and what they call their keys in it. */
import { canDecode, type Parsed, type ValueType } from './value-types.ts';

export const redisUrl: ValueType<string> = {
  name: 'url',
  parse(value) {
    const { protocol, pathname } = URL.canParse(value) ? new URL(value) : { protocol: '', pathname: '' };
    const isRedis = protocol === 'redis:' || protocol === 'rediss:';
    // The path is the number of a database, where there is one.
    if (isRedis && /^\/?\d*$/.test(pathname) && canDecode(new URL(value))) return { value, problems: [] };
    return refused(value, 'an address such as redis://redis:6379/0, or rediss:// for TLS');
  },
};

/** Braces would say where a cluster keeps a key, and are ours. */
export const redisPrefix: ValueType<string> = {
  name: 'text',
  parse: (value) =>
    /^[\w.:/-]{1,64}$/.test(value)
      ? { value, problems: [] }
      : refused(value, 'up to 64 letters, digits and characters of _ . : / -'),
};

function refused(got: string, allowed: string): Parsed<string> {
  return { value: undefined, problems: [{ at: '', got, allowed }] };
}
