import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
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

function run(command: string, env: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', command], {
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
