import { expect, test } from 'vitest';
import { root } from '../../support/optional.ts';
import { startProgram } from '../../support/process.ts';

/** Prints every module of ours that is loaded. */
const SPY = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({ load(url, context, next) {
    if (url.includes('/src/')) process.stderr.write('loaded ' + url.split('/src/')[1] + '\\n');
    return next(url, context);
  } });`)}`;

/** Until it has ended, or said `end`. */
async function loadedBy(words: string, environment: Record<string, string> = {}, end?: RegExp) {
  const args = ['--import', SPY, `${root}src/cli/main.ts`, ...words.split(' ')];
  await using program = startProgram(process.execPath, args, environment);
  await (end ? program.seen(end) : program.exit);
  return [...program.stderr().matchAll(/^loaded (\S+)$/gm)].map(([, name = '']) => name);
}

test('the heart loads nothing that only the daemon needs', async () => {
  const environment = {
    PILOTLIGHT_API_KEY: 'key',
    PILOTLIGHT_BASE_URL: 'http://127.0.0.1:1',
    PILOTLIGHT_DEPLOYMENTS: '42@20s',
    PILOTLIGHT_LISTEN: '127.0.0.1:0',
    PILOTLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
  };
  const loaded = await loadedBy('run', environment, /"pilotlight started"/);
  expect(loaded).toContain('heartbeat/process/supervisor.ts');
  const own =
    /^(?:cli\/(?:main|heart)\.ts$|time\/repeating\.ts$|(?:heartbeat|config|client|wire|contract)\/)/;
  expect(loaded).toContain('heartbeat/process/main.ts');
  // Neither a command, nor the emulator, nor the document.
  expect(loaded.filter((name) => !own.test(name))).toEqual([]);
  expect(loaded).not.toContain('config/load.ts');
  expect(loaded).not.toContain('contract/operations.ts');
});

test('the health check loads none of the commands of operations, nor the emulator or the document', async () => {
  const others = /^(?:cli\/(?:operations|logs|demo)|emulator|openapi)\//;
  const loaded = await loadedBy('healthcheck --url http://127.0.0.1:1');
  expect(loaded).toContain('cli/program.ts');
  expect(loaded.filter((name) => others.test(name))).toEqual([]);
  expect(await loadedBy('user current --dry-run')).toContain('cli/operations/commands.ts');
});
