/** What `--load` of the emulator says: `chat=diurnal:500`. A load with more fields stands in a seed. */
import { DEFAULT_SEED } from '../emulator/seed/default.ts';
import type { Seed } from '../emulator/seed/file.ts';
import type { LoadInput } from '../emulator/state/endpoints.ts';
import { InputError } from './command-error.ts';

/** The seed with these loads, whose shape and rate it checks. @throws InputError */
export function withLoads(seed: Seed, flags: readonly string[]): Seed {
  if (flags.length === 0) return seed;
  const groups = [...(seed.endpoint_groups ?? DEFAULT_SEED.endpoint_groups ?? [])];
  for (const flag of flags) {
    const [, name, shape, rate] = /^([^=]+)=([^:]+):(.+)$/.exec(flag) ?? [];
    const allowed = groups.map((group) => group.endpoint_name).join(', ');
    if (name === undefined)
      throw new InputError(`--load ${flag}: allowed: ENDPOINT=SHAPE:RATE, such as chat=diurnal:500`);
    const index = groups.findIndex((group) => group.endpoint_name === name);
    const group = groups[index];
    if (!group) throw new InputError(`--load ${flag}: no endpoint ${name}; allowed: ${allowed}`);
    groups[index] = { ...group, load: { shape, rate: Number(rate) } as LoadInput };
  }
  return { ...seed, endpoint_groups: groups };
}
