/** What answers have taught about the service. A file keeps it over restarts. */
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import * as z from 'zod';
import type { Settings } from '../../config/options.ts';
import {
  knownFindings,
  learn,
  NOTHING_LEARNED,
  withNews,
  type LearnedTraits,
  type ObservedAnswer,
  type Traits,
} from '../../doctor/learn.ts';
import { makePrivateFolder } from '../../storage/private-folder.ts';
import { Turns } from '../../time/repeating.ts';

const FILE = 'service-traits.json';
const FILE_MODE = 0o600;
/** Another service is learned from the start. */
const stored = z.object({ base_url: z.string(), traits: z.record(z.string(), z.string()) });

export class ServiceTraits {
  readonly #settings: Pick<Settings, 'stateDir' | 'baseUrl'>;
  readonly #logger: Logger;
  readonly #turns = new Turns();
  #knowledge: LearnedTraits = NOTHING_LEARNED;

  constructor(settings: Pick<Settings, 'stateDir' | 'baseUrl'>, logger: Logger) {
    this.#settings = settings;
    this.#logger = logger;
    const { stateDir } = settings;
    // A file system that hangs delays nothing.
    if (stateDir !== undefined) void this.#turns.take('read', () => this.#read(stateDir));
  }

  see(seen: ObservedAnswer): void {
    this.#change(learn(this.#knowledge, seen));
  }

  note(news: Traits): void {
    const { traits, longTexts } = this.#knowledge;
    this.#change({ traits: withNews(traits, news), longTexts });
  }

  findings() {
    return knownFindings(this.#knowledge.traits);
  }

  async stored(): Promise<void> {
    await this.#turns.take('end', () => Promise.resolve());
  }

  #change(after: LearnedTraits): void {
    const isNew = after.traits !== this.#knowledge.traits;
    this.#knowledge = after;
    const { stateDir } = this.#settings;
    if (isNew && stateDir !== undefined) void this.#turns.take('write', () => this.#write(stateDir));
  }

  async #read(stateDir: string): Promise<void> {
    const path = join(stateDir, FILE);
    try {
      await chmod(path, FILE_MODE);
      const { base_url, traits } = stored.parse(JSON.parse(await readFile(path, 'utf8')) as unknown);
      if (base_url !== this.#settings.baseUrl) return;
      const { traits: learned, longTexts } = this.#knowledge;
      this.#knowledge = { traits: withNews(traits, learned), longTexts };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      this.#logger.warn(
        { err: error },
        'what was learned of the service cannot be read; it is learned again',
      );
    }
  }

  async #write(stateDir: string): Promise<void> {
    const path = join(stateDir, FILE);
    const text = JSON.stringify({ base_url: this.#settings.baseUrl, traits: this.#knowledge.traits });
    try {
      makePrivateFolder(stateDir);
      await writeFile(`${path}.part`, text, { mode: FILE_MODE });
      await rename(`${path}.part`, path);
    } catch (error) {
      this.#logger.warn({ err: error }, 'what was learned of the service cannot be stored');
    }
  }
}
