/** Reads seeds: the file itself, and the files with log lines that it names. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import { problemsOf } from '../../wire/request.ts';
import { seedSchema, type Seed } from './schema.ts';

/** A seed that cannot be used; the message names every field and rule. */
export class SeedError extends PilotlightError {
  readonly code = 'invalid_seed';
  readonly actor = 'user';
}

/** @throws SeedError for a file that is missing, is no JSON, or does not fit the schema */
export async function readSeedFile(path: string): Promise<Seed> {
  const text = await readText(path);
  let seed: unknown;
  try {
    seed = JSON.parse(text);
  } catch (cause) {
    throw new SeedError(`${path}: not JSON: ${(cause as Error).message}`, { cause });
  }
  checkSeed(seed);
  return await withReplayFiles(seed as Seed, dirname(path));
}

/** @throws SeedError naming every field that breaks a rule */
export function checkSeed(seed: unknown): void {
  const parsed = seedSchema.safeParse(seed);
  if (!parsed.success) throw seedError(parsed.error, seed);
}

function seedError(error: z.ZodError, seed: unknown): SeedError {
  const problems = problemsOf(error, seed).map(({ field, message }) => `${field || 'seed'}: ${message}`);
  return new SeedError(problems.join('; '), { cause: error });
}

/** The seed with the lines of its replay files in it; relative paths are relative to `folder`. */
export async function withReplayFiles(seed: Seed, folder = '.'): Promise<Seed> {
  if (!seed.workergroups) return seed;
  const workergroups = await Promise.all(
    seed.workergroups.map(async (group) => {
      const { file, ...replay } = group.replay ?? {};
      if (file === undefined) return group;
      const text = await readText(resolve(folder, file));
      return { ...group, replay: { ...replay, lines: text.replace(/\n$/, '').split('\n') } };
    }),
  );
  return { ...seed, workergroups };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new SeedError(`${path}: ${(cause as Error).message}`, { cause });
  }
}
