/** Secrets of any kind, said back by a service in any way: all that the program writes is read, and has none of them. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import * as fc from '../../support/fast-check.ts';
import { expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { OPERATION_IDS, operationOf, type OperationId } from '../../../src/contract/operations.ts';
import { matchOperation } from '../../../src/wire/match.ts';
import { casesOf, PATIENCE } from '../../support/bad-input/cases.ts';
import { startLyingService, type Lie } from '../../support/bad-input/lies.ts';
import { startDaemonProcess, type DaemonProcess } from '../../support/daemon-process.ts';
import { until } from '../../support/daemon.ts';
import { isLong } from '../../support/long.ts';
import { hasCommand } from '../../support/optional.ts';
import { leaked, leaks, WRITINGS } from '../../support/secret-writings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Visible ASCII with all that some way of writing changes, and too long to be in a text by chance. */
function secretsLike(characters: string): fc.Arbitrary<string> {
  return fc
    .string({ unit: fc.constantFrom(...Array.from(characters)), minLength: 12, maxLength: 40 })
    .filter((secret) => new Set(secret).size > 6 && /^\S.*\S$/.test(secret));
}

const ANY = 'abcXYZ0189-_.~!*()\'"\\/%+&=?#$^[]{}|:;,<>@';
/** Bytes. A core dump without memory still has the registers, and in the largest what was copied last. */
const REGISTER = 64;

/** What no register holds all of. */
const longSecrets = secretsLike(ANY).map((secret) =>
  secret.repeat(Math.ceil((REGISTER + 1) / secret.length)),
);

const others = {
  token: secretsLike(`${ANY} `),
  otlp: secretsLike(ANY.replace(',', '')),
  app: secretsLike(ANY),
  proxy: secretsLike(ANY),
};
const secrets = fc.record({ key: secretsLike(ANY), ...others });
/** With a key that a core dump can be searched for. */
const secretsToDump = fc.record({ key: longSecrets, ...others });
type Secrets = typeof secrets extends fc.Arbitrary<infer Some> ? Some : never;

const around = fc.string({ unit: fc.constantFrom(...Array.from('gh \n"\\{}[]:,%é✓<')), maxLength: 8 });

/** A secret in words, written in one of many ways. */
function words(of: Secrets): fc.Arbitrary<string> {
  const said = fc.tuple(fc.constantFrom(...Object.values(of)), fc.constantFrom(...WRITINGS), around, around);
  return said.map(([secret, write, before, after]) => before + write(secret) + after);
}

/** What a service says with it: a refusal in each of its shapes, a page, a header, or its answer with other texts. */
function answersWith(said: fc.Arbitrary<string>, id: OperationId, isStored: boolean): fc.Arbitrary<Lie> {
  const { response } = operationOf(id).example;
  const status = fc.constantFrom(200, 400, 401, 403, 404, 410, 429, 500, 502);
  const refused = said.chain((text) =>
    fc.constantFrom(
      JSON.stringify({ success: false, error: text, msg: 'no' }),
      JSON.stringify({ success: false, error: 'invalid_request', msg: text, [text]: text }),
      JSON.stringify({ error_msg: text }),
      JSON.stringify({ detail: [{ loc: ['body', text], msg: text }] }),
      JSON.stringify(text),
      `<title>${text}</title>`,
      text,
    ),
  );
  // Lines of a log are what a worker prints, and are data; so are the names in what is stored.
  const isLog = id === 'workergroups.logs';
  const told =
    isLog || (isStored && id.startsWith('endpointGroups.'))
      ? refused
      : fc.oneof(
          refused,
          said.map((text) => JSON.stringify(withTexts(response, text))),
        );
  const header = fc.option(
    said.map((text) => `x-said: ${encodeURIComponent(text)}\r\n`),
    { nil: '' },
  );
  return fc
    .tuple(isLog ? status.filter((each) => each !== 200) : status, told, header)
    .map(([code, body, more]) => ({
      bytes: Buffer.from(
        `HTTP/1.1 ${code} x\r\ncontent-type: application/json\r\n${more}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      ),
      keeps: true,
    }));
}

/** Texts become another; so does the name of what has names for fields. */
function withTexts(value: unknown, text: string): unknown {
  if (typeof value === 'string') return text;
  if (Array.isArray(value)) return value.map((each) => withTexts(each, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withTexts(each, text)]));
}

test('the key is in no error of a client, however it is printed', { timeout: PATIENCE }, async () => {
  let lie: Lie = { bytes: Buffer.alloc(0) };
  await using service = await startLyingService(() => lie);
  const cases = fc.tuple(secretsLike(ANY), fc.constantFrom(...OPERATION_IDS)).chain(([key, id]) => {
    const of = { key, token: key, otlp: key, app: key, proxy: key };
    return fc.tuple(fc.constant(key), fc.constant(id), answersWith(words(of), id, false));
  });
  await fc.assert(
    fc.asyncProperty(cases, async ([key, id, made]) => {
      lie = made;
      await using client = createClient({ baseUrl: service.url, apiKey: key });
      const { example } = operationOf(id);
      const error: unknown = await client.call(id, example.input, { retry: false }).then(
        () => '',
        (no: unknown) => no,
      );
      const printed = [String(error), inspect(error, { depth: 8, showHidden: true }), JSON.stringify(error)];
      for (const text of printed) expect(leaks(text, key), `${key} in ${text}`).toBe(false);
    }),
    casesOf(20, 2_000),
  );
});

/** Answers that each program hears: its start is what takes time. */
const SAID = isLong ? 340 : 20;
const ENOUGH_MS = 15_000;

const SHOWN = ['/', '/metrics', '/api/status', '/api/fleet', '/api/fleet?format=csv', '/readyz', '/no'];

/** All that it has written, and all that it answers, by place. */
async function writtenBy(
  daemon: DaemonProcess,
  token: string,
  folder: string,
): Promise<Record<string, string>> {
  // A kept connection may end just as it is used again.
  const headers = { authorization: `Bearer ${token}`, connection: 'close' };
  const seen: Record<string, string> = { stdout: daemon.stdout(), stderr: daemon.stderr() };
  for (const path of SHOWN) {
    const answer = await fetch(daemon.url + path, { headers });
    seen[path] = JSON.stringify([...answer.headers]) + (await answer.text());
  }
  seen['config'] = await (await fetch(`${daemon.adminUrl}/-/config`, { headers })).text();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) seen[entry.name] = readFileSync(join(entry.parentPath, entry.name), 'latin1');
  return seen;
}

const ends = isLong ? fc.constantFrom('SIGTERM', 'SIGABRT', 'SIGSEGV') : fc.constant('SIGABRT');
const hasCores = hasCommand('sh', '-c', 'test "$(cat /proc/sys/kernel/core_pattern)" = core');

/** Both of its processes, each with a report of Node's and a core dump where the system makes files of them. */
async function crash(daemon: DaemonProcess, signal: NodeJS.Signals, dumps: string): Promise<void> {
  const pids = [daemon.daemonPid(), Number(daemon.child.pid)];
  for (const pid of pids) {
    spawnSync('prlimit', ['--core=unlimited', '--pid', String(pid)]);
    process.kill(pid, 'SIGUSR2');
  }
  const isWhole = (name: string): boolean =>
    readFileSync(join(dumps, name), 'utf8').trimEnd().endsWith('\n}');
  await until(() => readdirSync(dumps).filter(isWhole).length === pids.length);
  daemon.signalBoth(signal);
}

test('none is in logs, pages, metrics, answers, files or dumps', { timeout: PATIENCE }, async () => {
  await fc.assert(
    fc.asyncProperty(secretsToDump, fc.nat(), fc.boolean(), ends, async (of, seed, isStored, end) => {
      using folder = temporaryFolder();
      using dumps = temporaryFolder();
      let turns = 0;
      const said = words(of);
      await using service = await startLyingService((method, target) => {
        const id = matchOperation(method, target.split('?')[0] ?? '')?.value ?? 'deployments.heartbeat';
        const [answer] = fc.sample(answersWith(said, id, isStored), {
          numRuns: 1,
          seed: seed + (turns += 1),
        });
        return answer ?? { bytes: Buffer.alloc(0) };
      });
      const { host } = new URL(service.url);
      const encoded = encodeURIComponent;
      const settings = {
        API_KEY: of.key,
        BASE_URL: service.url,
        METRICS_TOKEN: of.token,
        APP_HEALTH: `http://user:${encoded(of.app)}@${host}/health`,
        OTLP_ENDPOINT: service.url,
        OTLP_HEADERS: `authorization=Bearer%20${encoded(of.otlp)}`,
        LOG_SINKS: 'stdout,otlp',
        DEPLOYMENTS: '42@10s,43@5s,44,name:square',
        WORKER_GROUPS: '7,8,all,endpoint:chat',
        ENDPOINTS: 'all,chat,31',
        FLEET_INTERVAL: '5s',
        MACHINES: '11,12',
        INSTANCES_SCHEDULE: '* * * * * *',
        MAINTENANCE_SCHEDULE: '* * * * * *',
        ACCOUNT_SCHEDULE: '* * * * * *',
        ...(isStored && { STATE_DIR: folder.path }),
        LOG_LEVEL: 'trace',
        LOG_FORMAT: seed % 2 === 0 ? 'json' : 'text',
      };
      // Of addresses that are encrypted, which here are none.
      const processEnv = {
        HTTPS_PROXY: `http://user:${encoded(of.proxy)}@127.0.0.1:1`,
        NODE_OPTIONS: '--report-on-signal --report-signal=SIGUSR2 --report-on-fatalerror',
      };
      await using daemon = await startDaemonProcess(settings, processEnv, dumps.path);
      // A refusal may close the key for minutes.
      const enoughAt = performance.now() + ENOUGH_MS;
      await until(() => turns > SAID || performance.now() > enoughAt);
      expect(turns).toBeGreaterThan(0);
      const seen = await writtenBy(daemon, of.token, folder.path);
      if (end === 'SIGTERM') daemon.child.kill(end);
      else await crash(daemon, end, dumps.path);
      await daemon.exit;
      seen['stderr'] = daemon.stderr();
      for (const name of readdirSync(dumps.path)) seen[name] = readFileSync(join(dumps.path, name), 'latin1');
      const hasCore = Object.keys(seen).some((name) => name.startsWith('core'));
      expect(hasCore).toBe(hasCores && end !== 'SIGTERM');
      for (const [place, text] of Object.entries(seen)) {
        const isCore = place.startsWith('core');
        const told = Object.values(of).filter((secret) => !isCore || secret.length > REGISTER);
        expect(leaked(text, told), place).toEqual([]);
      }
    }),
    casesOf(1, 30),
  );
});
