/** What `--load` of the emulator says: `chat=diurnal:500,request_work=200`. The fields are those of a load in a seed. */
import { problemsOf } from '../wire/request.ts';
import { DEFAULT_SEED } from '../emulator/seed/default.ts';
import type { Seed } from '../emulator/seed/schema.ts';
import { type LoadInput, loadSchema } from '../emulator/state/loads.ts';
import { InputError } from './input-error.ts';

export interface EndpointLoad {
  readonly endpoint: string;
  readonly load: LoadInput;
}

const SYNTAX =
  'ENDPOINT=SHAPE:RATE, then fields as ,name=value; SHAPE is constant, poisson, diurnal or bursts';

/** @throws InputError that names field, what it got, and what is allowed */
export function readLoadFlag(text: string): EndpointLoad {
  const [, endpoint, shape, rate = '', rest = ''] = /^([^=]+)=([^:,]+):([^,]+)(?:,(.*))?$/s.exec(text) ?? [];
  if (endpoint === undefined) throw wrong(text, 'the load', text, SYNTAX);
  const load = { shape, rate: valueOf(rate), ...fieldsOf(text, rest) };
  const parsed = loadSchema.safeParse(load);
  if (parsed.success) return { endpoint, load: load as LoadInput };
  const [first] = problemsOf(parsed.error, load);
  throw wrong(text, first?.field || 'the load', first?.value, first?.message ?? SYNTAX);
}

/** The seed with these loads; each in place of the one that its endpoint has. @throws InputError for an unknown endpoint */
export function withLoads(seed: Seed, loads: readonly EndpointLoad[]): Seed {
  if (loads.length === 0) return seed;
  const groups = seed.endpoint_groups ?? DEFAULT_SEED.endpoint_groups ?? [];
  const names = groups.map(({ endpoint_name: name }) => name);
  for (const { endpoint } of loads) {
    if (names.includes(endpoint)) continue;
    const known = names.filter((name) => name !== undefined).join(', ') || 'none: the seed has no endpoint';
    throw new InputError(`--load: endpoint: got ${JSON.stringify(endpoint)}; allowed: ${known}`);
  }
  const loadOf = (name: string | undefined) => loads.findLast(({ endpoint }) => endpoint === name)?.load;
  return {
    ...seed,
    endpoint_groups: groups.map((group) => {
      const load = loadOf(group.endpoint_name);
      return load ? Object.assign({}, group, { load }) : group;
    }),
  };
}

function fieldsOf(text: string, rest: string): Record<string, unknown> {
  if (rest === '') return {};
  return Object.fromEntries(
    rest.split(',').map((field): [string, unknown] => {
      const at = field.indexOf('=');
      if (at < 1) throw wrong(text, 'a field', field, 'name=value');
      return [field.slice(0, at), valueOf(field.slice(at + 1))];
    }),
  );
}

function valueOf(text: string): unknown {
  const number = Number(text);
  return text.trim() === '' || Number.isNaN(number) ? text : number;
}

function wrong(text: string, field: string, got: unknown, allowed: string): InputError {
  const shown = got === undefined ? 'nothing' : JSON.stringify(got);
  return new InputError(`--load ${text}: ${field}: got ${shown}; allowed: ${allowed}`);
}
