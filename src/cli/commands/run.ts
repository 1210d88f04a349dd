import { Command } from 'commander';
import { OPTIONS, OPTION_KEYS, PREFIX, type Option } from '../../config/options.ts';

export function runCommand(): Command {
  return new Command('run')
    .description('the daemon, configured by environment variables alone')
    .addHelpText(
      'after',
      () => `\nEnvironment (each also as NAME_FILE, a path whose content is the value):\n${variables()}`,
    )
    .action(async () => {
      const { runHeart } = await import('../heart.ts');
      await runHeart();
    });
}

function variables(): string {
  return OPTION_KEYS.map((key) => {
    const { variable, type, fallback, required, doc }: Option = OPTIONS[key];
    const byDefault = required
      ? 'required'
      : fallback === undefined || fallback === ''
        ? 'not set'
        : fallback;
    return `  ${PREFIX}${variable} (${type.name}; ${byDefault})\n      ${doc}`;
  }).join('\n');
}
