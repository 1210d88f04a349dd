import { Command } from 'commander';
import { OPTIONS, OPTION_KEYS, PREFIX, type Option } from '../../config/options.ts';

export function runCommand(): Command {
  return new Command('run')
    .description('Run the daemon, configured by environment variables alone')
    .addHelpText(
      'after',
      () =>
        `\nEnvironment (each also as NAME_FILE, a path whose content is the value):\n${variables()}\n${EXAMPLE}`,
    )
    .action(async () => {
      const { runHeart } = await import('../heart.ts');
      await runHeart();
    });
}

const EXAMPLE = `
Example:
  PILOTLIGHT_API_KEY_FILE=/run/secrets/key PILOTLIGHT_BASE_URL=https://console.example.com \\
    PILOTLIGHT_DEPLOYMENTS=name:square pilotlight run`;

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
