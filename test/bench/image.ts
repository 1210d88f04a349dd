/** V8's flags and malloc's settings as the image has them: what is measured runs as it does there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/optional.ts';

const DOCKERFILE = readFileSync(join(root, 'Dockerfile'), 'utf8');
const [, ENTRYPOINT = '[]'] = /^ENTRYPOINT (\[.*\])$/m.exec(DOCKERFILE) ?? [];
/** Node, its flags, the bundle. */
const COMMAND = JSON.parse(ENTRYPOINT) as string[];
if (!COMMAND.at(-1)?.endsWith('/pilotlight.js')) throw new Error('the Dockerfile starts another program');

export const IMAGE_FLAGS: readonly string[] = COMMAND.slice(1, -1);
export const IMAGE_ENV: Readonly<Record<string, string>> = Object.fromEntries(
  [...DOCKERFILE.matchAll(/^ENV (\w+)=(\S+)$/gm)].map(([, name = '', value = '']) => [name, value]),
);
