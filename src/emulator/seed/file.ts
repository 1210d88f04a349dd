/** Reads what a start is given: the seed, and the traits. */
import { readFile } from 'node:fs/promises';
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import { problemsOf, type InputProblem } from '../../wire/request.ts';
import { defined } from '../handlers/define.ts';
import { traitsSchema, type Traits } from '../state/traits.ts';
import { seedSchema, type Seed } from './schema.ts';

/** A seed that cannot be used; the message names every field and rule. */
export class SeedError extends PilotlightError {
  readonly code = 'invalid_seed';
  readonly actor = 'user';
}

/** Traits that cannot be used; the message names every field, what is allowed, and what it got. */
export class TraitsError extends PilotlightError {
  readonly code = 'invalid_traits';
  readonly actor = 'user';
  readonly problems: readonly InputProblem[];

  constructor(message: string, options: ErrorOptions & { readonly problems?: readonly InputProblem[] } = {}) {
    super(message, options);
    this.problems = options.problems ?? [];
  }
}

/** Reads a seed from a JSON file. @throws SeedError for a file that is missing, is no JSON, or does not fit the schema */
export async function readSeedFile(path: string): Promise<Seed> {
  const seed = await readJson(path, SeedError);
  checkSeed(seed);
  return seed as Seed;
}

/** @throws SeedError naming every field that breaks a rule */
export function checkSeed(seed: unknown): void {
  const parsed = seedSchema.safeParse(seed);
  if (parsed.success) return;
  const problems = problemsOf(parsed.error, seed);
  const told = problems.map(({ field, message }) => `${field || 'seed'}: ${message}`);
  throw new SeedError(told.join('; '), { cause: parsed.error });
}

/** Reads traits from a JSON file. @throws TraitsError for a file that is missing, is no JSON, or does not fit */
export async function readTraitsFile(path: string): Promise<Partial<Traits>> {
  return readTraits(await readJson(path, TraitsError));
}

/** Fills in the defaults inside each trait. @throws TraitsError naming every field that breaks a rule */
export function readTraits(input: unknown): Partial<Traits> {
  const parsed = traitsSchema.safeParse(input);
  // JavaScript allows traits that are undefined.
  if (parsed.success) return defined(parsed.data);
  const problems = problemsOf(parsed.error, input);
  const told = problems.map(({ field, message, value }) => `${field || 'traits'}: ${message}${got(value)}`);
  throw new TraitsError(told.join('; '), { problems, cause: parsed.error });
}

/** Objects are not repeated: their problems are told by field. */
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
