import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { describeWith, hasCommand } from '../../support/optional.ts';
import { programFolder } from '../../support/program-folder.ts';

function run(shell: string, args: readonly string[], path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, PATH: `${path}:${process.env['PATH']}`, HOME: path, TERM: 'dumb' };
    const child = spawn(shell, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    child.once('error', reject);
    child.once('close', () => resolve(output));
  });
}

/** For each line that is typed, what the shell offers at Tab. */
const TYPED = ['pilotlight tem', 'pilotlight template create --runtype ', 'pilotlight tfa regen'] as const;
const OFFERED = ['template', 'args jupyter ssh', 'regenerate-backup-codes'];

describeWith(
  'bash',
  hasCommand('bash', '--version'),
  'apt-get install bash',
)('completion in bash', () => {
  test('offers commands, flags and values', async () => {
    using folder = programFolder();
    const script = `
      eval "$(pilotlight completion bash)"
      complete -p pilotlight >/dev/null || exit 1
      offer() {
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pilotlight
        printf '%s\\n' "\${COMPREPLY[@]}" | sort | paste -sd' '
      }
      ${TYPED.map((line) => `offer ${line.endsWith(' ') ? `${line}''` : line}`).join('\n')}`;
    const output = await run('bash', ['--norc', '-c', script], folder.path);
    expect(output.trim().split('\n')).toEqual(OFFERED);
  });
});

describeWith(
  'fish',
  hasCommand('fish', '--version'),
  'apt-get install fish',
)('completion in fish', () => {
  test('offers commands, flags and values', async () => {
    using folder = programFolder();
    const offers = TYPED.map((line) => `complete -C '${line}' | cut -f1 | sort | paste -sd' '`);
    const script = `pilotlight completion fish | source; ${offers.join('; ')}`;
    const output = await run('fish', ['--no-config', '-c', script], folder.path);
    expect(output.trim().split('\n')).toEqual(OFFERED);
  });
});

describeWith(
  'zsh',
  hasCommand('zsh', '--version'),
  'apt-get install zsh',
)('completion in zsh', () => {
  test('offers commands, flags and values', async () => {
    using folder = programFolder();
    // zsh runs its completion functions at a prompt only; here they are called as it does, with what they offer printed.
    const script = `
      compdef() { :; }
      _describe() { print -rl -- "\${(@)candidates%%:*}" | sort | paste -sd' '; }
      eval "$(pilotlight completion zsh)"
      offer() { words=("$@"); CURRENT=$#; _pilotlight; }
      ${TYPED.map((line) => `offer ${line.endsWith(' ') ? `${line}''` : line}`).join('\n')}`;
    const output = await run('zsh', ['-f', '-c', script], folder.path);
    expect(output.trim().split('\n')).toEqual(OFFERED);
  });
});
