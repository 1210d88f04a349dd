import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { describeWith, hasCommand, root } from '../../support/optional.ts';
import { programFolder } from '../../support/program-folder.ts';

interface Exchange {
  readonly command: string;
  readonly answer: string;
}

/** The `console` blocks of the README: a line that begins with `$ ` is a command, what follows is its answer. */
function sessions(): Exchange[] {
  const text = readFileSync(`${root}README.md`, 'utf8');
  return [...text.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command = '', ...answer] = part.trimEnd().split('\n');
        return { command, answer: answer.join('\n') };
      }),
  );
}

/** The `pilotlight` lines of the README's `sh` blocks: commands whose answers are too long to print there. */
function commands(): string[] {
  const text = readFileSync(`${root}README.md`, 'utf8');
  return [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
    block.split('\n').filter((line) => line.startsWith('pilotlight ')),
  );
}

function run(command: string, env: Record<string, string>, cwd?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', command], {
      ...(cwd !== undefined && { cwd }),
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    child.once('error', reject);
    child.once('close', () => resolve(output.trimEnd()));
  });
}

/** Where the README has the emulator. */
const ADDRESS = 'http://127.0.0.1:8080';

/** The answer as a pattern: `…` stands for anything. */
function pattern(answer: string): RegExp {
  return new RegExp(
    `^${answer
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
    's',
  );
}

describeWith(
  'curl',
  hasCommand('curl', '--version'),
  'apt-get install curl',
)('the README', () => {
  test('its sessions with the emulator run as printed, by curl and by pilotlight', async () => {
    await using emulator = await startEmulator();
    using folder = programFolder();
    const env = {
      PATH: `${folder.path}:${process.env['PATH']}`,
      PILOTLIGHT_BASE_URL: emulator.url,
      PILOTLIGHT_API_KEY: emulator.apiKey,
    };
    const exchanges = sessions();
    expect(exchanges.length).toBeGreaterThan(9);
    for (const { command, answer } of exchanges) {
      const output = await run(command.replaceAll(ADDRESS, emulator.url), env);
      expect(output.replaceAll(emulator.url, ADDRESS), command).toMatch(pattern(answer));
    }
  });
});

test(
  'what the README says of check and plan runs, on files as it names them',
  { timeout: 60_000 },
  async () => {
    using folder = programFolder();
    const files = {
      'groups.json': JSON.stringify([{ endpoint_name: 'chat', target_util: 0.8, min_load: 100 }]),
      'today.json': JSON.stringify({ target_util: 0.9 }),
      'tomorrow.json': JSON.stringify({ target_util: 0.8 }),
      'requests.csv': traceOf(2_000),
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
    const lines = commands();
    expect(lines.length).toBeGreaterThan(4);
    const env = { PATH: `${folder.path}:${process.env['PATH']}` };
    for (const line of lines) {
      const output = await run(`${line}; echo "exit $?"`, env, folder.path);
      expect(output, line).toMatch(/exit 0$/);
    }
    expect(existsSync(join(folder.path, 'plan.html'))).toBe(true);
  },
);

/** A trace with the columns of the one that the README plans for, ten requests a second. */
function traceOf(requests: number): string {
  const rows = Array.from({ length: requests }, (_, index) => {
    const at = new Date(Date.UTC(2023, 10, 16) + index * 100)
      .toISOString()
      .replace('T', ' ')
      .replace('Z', '');
    return `${at},${100 + (index % 700)},${20 + (index % 90)}`;
  });
  return `TIMESTAMP,ContextTokens,GeneratedTokens\n${rows.join('\n')}\n`;
}
