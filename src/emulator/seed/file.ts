import { readFile } from 'node:fs/promises';
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import { problemsOf, type InputProblem } from '../../wire/request.ts';
import { defined } from '../handlers/define.ts';
import { traitsSchema, type Traits } from '../state/traits.ts';
import { seedSchema, type Seed } from './schema.ts';

/** An invalid seed. The message names each field and rule. */
export class SeedError extends PilotlightError {
  readonly code = 'invalid_seed';
  readonly actor = 'user';
}

/** Invalid traits. The message names each field, the allowed values and the given one. */
export class TraitsError extends PilotlightError {
  readonly code = 'invalid_traits';
  readonly actor = 'user';
  readonly problems: readonly InputProblem[];

  constructor(message: string, options: ErrorOptions & { readonly problems?: readonly InputProblem[] } = {}) {
    super(message, options);
    this.problems = options.problems ?? [];
  }
}

/** @throws SeedError for a missing file, invalid JSON, or a seed that does not fit */
export async function readSeedFile(path: string): Promise<Seed> {
  const seed = await readJson(path, SeedError);
  checkSeed(seed);
  return seed as Seed;
}

export function checkSeed(seed: unknown): void {
  const parsed = seedSchema.safeParse(seed);
  if (parsed.success) return;
  const problems = problemsOf(parsed.error, seed);
  const told = problems.map(({ field, message }) => `${field || 'seed'}: ${message}`);
  throw new SeedError(told.join('; '), { cause: parsed.error });
}

/** @throws TraitsError for a missing file, invalid JSON, or traits that do not fit */
export async function readTraitsFile(path: string): Promise<Partial<Traits>> {
  return readTraits(await readJson(path, TraitsError));
}

export function readTraits(input: unknown): Partial<Traits> {
  const parsed = traitsSchema.safeParse(input);
  // Traits may be undefined in JavaScript.
  if (parsed.success) return defined(parsed.data);
  const problems = problemsOf(parsed.error, input);
  const told = problems.map(({ field, message, value }) => `${field || 'traits'}: ${message}${got(value)}`);
  throw new TraitsError(told.join('; '), { problems, cause: parsed.error });
}

/** Problems inside objects name their field already. */
function got(value: unknown): string {
  return value === undefined || typeof value === 'object' ? '' : ` (got ${JSON.stringify(value)})`;
}

async function readJson(path: string, Failure: typeof SeedError | typeof TraitsError): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new Failure(`${path}: ${(cause as Error).message}`, { cause });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new Failure(`${path}: not JSON: ${(cause as Error).message}`, { cause });
  }
}
