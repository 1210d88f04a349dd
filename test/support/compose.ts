/** Docker's compose: a plugin of docker, or the older program of its own. */
import { spawnSync } from 'node:child_process';
import { hasCommand } from './optional.ts';

const COMMANDS = [['docker', 'compose'], ['docker-compose']] as const;
const found = COMMANDS.find(([command, ...first]) => hasCommand(command, ...first, 'version'));

export const hasCompose = found !== undefined;

/** Its answer to these arguments, about this file. */
export function composeFile(
  file: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) {
  const [command, ...first] = found ?? COMMANDS[0];
  const env = { ...process.env, ...environment };
  return spawnSync(command, [...first, '--file', file, ...args], { env, encoding: 'utf8' });
}
