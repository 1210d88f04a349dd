/** A real Prometheus that scrapes once a second. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeWith, hasCommand, root } from './optional.ts';
import { freePort } from './ports.ts';
import { startProgram } from './process.ts';
import { temporaryFolder } from './temporary-folder.ts';

export const describeWithPrometheus = describeWith(
  'promtool and prometheus',
  hasCommand('prometheus', '--version') && hasCommand('promtool', '--version'),
  'apt-get install prometheus',
);

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value: readonly [atSeconds: number, value: string];
    }[];
  };
}

/** @param urls What it scrapes. @param rules A file of deploy/prometheus. */
export async function startPrometheus(urls: readonly string[], rules?: string) {
  const folder = temporaryFolder();
  const config = join(folder.path, 'prometheus.yml');
  const targets = urls.map((url) => `'${url.replace('http://', '')}'`).join(', ');
  writeFileSync(
    config,
    `rule_files: [${rules === undefined ? '' : `'${root}deploy/prometheus/${rules}'`}]\n` +
      `scrape_configs: [{ job_name: pilotlight, scrape_interval: 1s, static_configs: [{ targets: [${targets}] }] }]\n`,
  );
  const port = await freePort();
  const program = startProgram('prometheus', [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder.path, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]);
  await program.seen(/Server is ready/);
  return {
    async ask(expression: string): Promise<Answer> {
      const address = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`;
      return (await (await fetch(address)).json()) as Answer;
    },
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}
