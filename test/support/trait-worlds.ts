/** Services of every behaviour that is not known for sure: one value of a trait of the emulator, or two. */
import type { Traits, TraitsInput } from '../../src/emulator/index.ts';
import { THROTTLED_SHAPES, TRAITS } from '../../src/emulator/state/settings.ts';

type Name = keyof Traits;

/** `tight` refuses the third question, `late` one of the last. */
export const RATE_LIMITS = {
  off: 'off',
  evidence: { operations: 'evidence' },
  tight: { key: { size: 2, refill_per_second: 0.01 } },
  late: { key: { size: 9, refill_per_second: 0.01 } },
} as const satisfies Record<string, TraitsInput['rate_limit']>;

const VALUES: { readonly [N in Name]: readonly NonNullable<TraitsInput[N]>[] } = {
  rate_limit: Object.values(RATE_LIMITS),
  throttled_shape: Object.keys(THROTTLED_SHAPES) as (keyof typeof THROTTLED_SHAPES)[],
  instances_v0: ['answers', '410'],
  tail_unit: ['lines', 'bytes'],
  log_shape: ['text', 'levels'],
  log_file_bytes: ['unlimited', 16_384],
  expired_deployment: ['as_unknown', 'own_words'],
  put_endpoint: ['keeps', 'resets'],
  load_meaning: ['rate', 'in_flight', 'mixed'],
  status_flicker: [0, 0.3],
  cold_at_max: ['settles', 'flaps'],
  tfa_key: ['taken', 'refused'],
};
const NAMES = Object.keys(TRAITS) as Name[];

function worldsOf(name: Name): TraitsInput[] {
  return VALUES[name].map((value) => ({ [name]: value }));
}

export const SINGLE: readonly TraitsInput[] = NAMES.flatMap(worldsOf);
export const PAIRS: readonly TraitsInput[] = NAMES.flatMap((one, index) =>
  NAMES.slice(index + 1).flatMap((other) =>
    worldsOf(one).flatMap((first) => worldsOf(other).map((second) => Object.assign({}, first, second))),
  ),
);
