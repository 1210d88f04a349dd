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

const SHELLS = {
  bash: {
    args: ['--norc', '-c'],
    script: `
      eval "$(pilotlight completion bash)"
      complete -p pilotlight >/dev/null || exit 1
      offer() {
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pilotlight
        printf '%s\\n' "\${COMPREPLY[@]}" | sort | paste -sd' '
      }
      ${TYPED.map((line) => `offer ${line.endsWith(' ') ? `${line}''` : line}`).join('\n')}`,
  },
  fish: {
    args: ['--no-config', '-c'],
    script: `pilotlight completion fish | source
      ${TYPED.map((line) => `complete -C '${line}' | cut -f1 | sort | paste -sd' '`).join('; ')}`,
  },
  zsh: {
    args: ['-f', '-c'],
    // zsh runs its completion functions at a prompt only: here they are called as it does, and print what they offer.
    script: `
      compdef() { :; }
      _describe() { print -rl -- "\${(@)candidates%%:*}" | sort | paste -sd' '; }
      eval "$(pilotlight completion zsh)"
      offer() { words=("$@"); CURRENT=$#; _pilotlight; }
      ${TYPED.map((line) => `offer ${line.endsWith(' ') ? `${line}''` : line}`).join('\n')}`,
  },
};

for (const [shell, { args, script }] of Object.entries(SHELLS))
  describeWith(
    shell,
    hasCommand(shell, '--version'),
    `apt-get install ${shell}`,
  )(`completion in ${shell}`, () => {
    test('offers commands, flags and values', async () => {
      using folder = programFolder();
      const output = await run(shell, [...args, script], folder.path);
      expect(output.trim().split('\n')).toEqual(OFFERED);
    });
  });
