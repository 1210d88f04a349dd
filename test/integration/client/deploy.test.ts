/** Making a deployment of an archive: hash, make, upload; against the emulator, and against stores that misbehave. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { truncateSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer, json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import {
  AbortedError,
  ArchiveError,
  ResponseError,
  TimeoutError,
  UploadError,
} from '../../../src/client/errors.ts';
import { deployArchive, type DeployProgress } from '../../../src/client/flows/deploy.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { pilotlight } from '../../support/console.ts';
import { listening } from '../../support/listening.ts';
import { serve } from '../../support/local-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Status and text; `silent`: it stops reading. */
type StoreAnswer = readonly [status: number, text: string] | 'silent';

const UPLOAD_FIELDS = { key: 'a/b.tar.gz', policy: 's3cret-policy', 'x-amz-date': 20260101 };

/** `answers`: of the store, the last one for all that follow. */
async function startUploadStore(...answers: readonly StoreAnswer[]) {
  const posted: { readonly headers: IncomingMessage['headers']; readonly body: Buffer }[] = [];
  const made: unknown[] = [];
  let uploads = 0;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url !== '/store?a=b') {
      made.push(await json(request));
      const upload = { upload_url: `http://${request.headers.host}/store?a=b`, upload_fields: UPLOAD_FIELDS };
      response.end(JSON.stringify({ success: true, action: 'created', deployment_id: '44', ...upload }));
      return;
    }
    const answer = answers[Math.min(uploads, answers.length - 1)] ?? [204, ''];
    uploads += 1;
    if (answer === 'silent') return void request.pause();
    posted.push({ headers: request.headers, body: await buffer(request) });
    response.writeHead(answer[0]).end(answer[1]);
  }

  const server = createServer((request, response) => void handle(request, response).catch(() => {}));
  return { ...(await listening(server)), posted, made };
}

const REQUEST = { name: 'circle', image: 'team/app', ttl: 120 };
/** The archive is larger than what sockets and streams hold. */
const LARGE = 48 * 1024 * 1024;

let folder: ReturnType<typeof temporaryFolder>;
let archive: string;
beforeEach(() => {
  folder = temporaryFolder();
  archive = join(folder.path, 'code "1".tar.gz');
  writeFileSync(archive, 'first version');
});
afterEach(() => folder[Symbol.dispose]());

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

describe('with the emulator', () => {
  let emulator: Emulator;
  let client: Client;
  beforeEach(async () => {
    emulator = await startEmulator({ dialect: 'public', clock: 'frozen' });
    client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
  });
  afterEach(async () => {
    await client[Symbol.asyncDispose]();
    await emulator.close();
  });

  async function healthy(): Promise<unknown> {
    const { deployment } = await client.deployments.get({ id: 44 });
    return [deployment.current_version_id, deployment.last_healthy_version_id];
  }

  test('a deployment is made, its archive arrives, and doing it again changes nothing', async () => {
    const steps: DeployProgress[] = [];
    const onProgress = (step: DeployProgress) => steps.push(step);
    expect(await deployArchive(client, { archive, request: REQUEST, onProgress })).toEqual({
      deploymentId: 44,
      action: 'created',
      endpointId: 32,
      workergroupId: 9,
      hash: sha256('first version'),
      bytes: 13,
      uploaded: true,
    });
    expect([...new Set(steps.map(({ step }) => step))]).toEqual(['hashed', 'made', 'uploading']);
    expect(await healthy()).toEqual([44, 44]);
    expect(await deployArchive(client, { archive, request: REQUEST })).toMatchObject({
      deploymentId: 44,
      action: 'exists',
      uploaded: false,
    });
    writeFileSync(archive, 'second version');
    expect(await deployArchive(client, { archive, request: REQUEST })).toMatchObject({
      deploymentId: 44,
      action: 'soft_update',
      uploaded: true,
    });
    expect(await healthy()).toEqual([45, 45]);
  });

  test('what was made and not uploaded is uploaded the next time', async () => {
    const made = { ...REQUEST, file_hash: sha256('first version'), file_size: 13 };
    await client.deployments.create(made);
    expect(await healthy()).toEqual([44, null]);
    expect(await deployArchive(client, { archive, request: REQUEST })).toMatchObject({
      action: 'exists',
      uploaded: true,
    });
    expect(await healthy()).toEqual([44, 44]);
  });

  test('an archive of many megabytes arrives', async () => {
    truncateSync(archive, LARGE);
    const { bytes, uploaded } = await deployArchive(client, { archive, request: REQUEST });
    expect([bytes, uploaded, await healthy()]).toEqual([LARGE, true, [44, 44]]);
  });

  test.each([
    ['missing', (path: string) => join(path, 'nothing.tar.gz'), 'there is no such file'],
    ['a folder', (path: string) => path, 'is a folder, and no archive'],
    ['empty', (path: string) => join(path, 'empty.tar.gz'), 'is empty'],
    ['a pipe', (path: string) => join(path, 'pipe.tar.gz'), 'is no file'],
  ])('a file that is %s is refused before anything is sent', async (_, pathIn, problem) => {
    writeFileSync(join(folder.path, 'empty.tar.gz'), '');
    execFileSync('mkfifo', [join(folder.path, 'pipe.tar.gz')]);
    const path = pathIn(folder.path);
    const failure = await deployArchive(client, { archive: path, request: REQUEST }).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(ArchiveError);
    expect(failure).toMatchObject({
      actor: 'user',
      message: expect.stringContaining(`${path}: ${problem}`) as string,
    });
    expect(emulator.journal.count()).toBe(0);
  });

  test('the command says what was done, with ids that other commands take, and tells problems apart', async () => {
    const env = { API_KEY: emulator.apiKey, BASE_URL: emulator.url };
    const flags = ['--name', 'circle', '--image', 'team/app'];
    const ran = await pilotlight(['deployment', 'deploy', archive, ...flags, '--max-workers', '3'], { env });
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toMatch(/^action +created\ndeployment_id +44\n/);
    expect(emulator.endpointGroups.list().at(-1)).toMatchObject({ endpoint_name: 'circle', max_workers: 3 });
    const again = await pilotlight(['deployment', 'deploy', archive, ...flags, '--json'], { env });
    expect(JSON.parse(again.stdout)).toMatchObject({ action: 'exists', deployment_id: 44, uploaded: false });

    const before = emulator.journal.count();
    const dry = await pilotlight(['deployment', 'deploy', archive, ...flags, '--dry-run'], { env });
    expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining(sha256('first version'))]);
    const missing = await pilotlight(['deployment', 'deploy', 'nothing.tar.gz', ...flags], { env });
    expect(missing).toMatchObject({ code: 2, stdout: '' });
    expect(missing.stderr).toBe('error: deployments.create: nothing.tar.gz: there is no such file\n');
    const unnamed = await pilotlight(['deployment', 'deploy', archive, '--image', 'x'], { env });
    expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining('--name: is missing')]);
    expect(emulator.journal.count()).toBe(before);
  });
});

describe('with a store of its own', () => {
  async function deployTo(url: string, more: object = {}) {
    await using client = createClient({ baseUrl: url, apiKey: 'key' });
    return await deployArchive(client, { archive, request: REQUEST, random: () => 0, ...more });
  }

  test('the archive comes as multipart, after all fields, with a length and without the key', async () => {
    await using store = await startUploadStore([201, '']);
    await deployTo(store.url);
    const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = store.posted;
    expect(headers.authorization).toBeUndefined();
    expect(headers['content-length']).toBe(String(body.length));
    const boundary = String(headers['content-type']).replace('multipart/form-data; boundary=', '');
    const part = (head: string, content: string) =>
      `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
    expect(body.toString()).toBe(
      part('name="key"', UPLOAD_FIELDS.key) +
        part('name="policy"', UPLOAD_FIELDS.policy) +
        part('name="x-amz-date"', '20260101') +
        part(
          'name="file"; filename="code %221%22.tar.gz"\r\nContent-Type: application/gzip',
          'first version',
        ) +
        `--${boundary}--\r\n`,
    );
    expect(store.made).toEqual([{ ...REQUEST, file_hash: sha256('first version'), file_size: 13 }]);
  });

  test('a store that fails for a while is asked again, with the whole archive', async () => {
    await using store = await startUploadStore([503, 'busy'], [429, ''], [200, '']);
    const steps: string[] = [];
    const onProgress = ({ step }: DeployProgress) => steps.push(step);
    await expect(deployTo(store.url, { onProgress })).resolves.toMatchObject({ uploaded: true });
    expect(steps.filter((step) => step === 'repeating')).toHaveLength(2);
    expect(new Set(steps)).toEqual(new Set(['hashed', 'made', 'uploading', 'repeating']));
    expect(store.posted.map(({ body }) => body.includes('first version'))).toEqual([true, true, true]);
    expect(store.made).toHaveLength(1);
  });

  test('an abort between attempts ends it', async () => {
    await using store = await startUploadStore([503, 'busy']);
    const controller = new AbortController();
    const cause = new Error('Ctrl-C');
    const onProgress = ({ step }: DeployProgress) => step === 'repeating' && controller.abort(cause);
    const failure = deployTo(store.url, { onProgress, signal: controller.signal, random: () => 1 });
    await expect(failure).rejects.toMatchObject({
      code: 'aborted',
      message: 'deployments.create: aborted while waiting to upload again',
      cause,
    });
    expect(store.posted).toHaveLength(1);
  });

  test('a store that cannot be reached is asked again', async () => {
    const steps: DeployProgress[] = [];
    const onProgress = (step: DeployProgress) => steps.push(step);
    const answer = { upload_url: 'http://127.0.0.1:1/x', upload_fields: UPLOAD_FIELDS };
    await expect(deployAnswered(answer, { onProgress })).rejects.toMatchObject({ reason: 'refused' });
    expect(steps.filter(({ step }) => step === 'repeating')).toHaveLength(2);
  });

  test.each([
    [400, '<Error><Code>EntityTooLarge</Code><Message>s3cret</Message></Error>', 'EntityTooLarge'],
    [403, '{ "Error" : "Expired", "x":"s3cret"}', 'Expired'],
    [202, 's3cret', undefined],
  ])(
    'a store that refuses with %i is asked once, and only its word is told',
    async (status, body, reason) => {
      await using store = await startUploadStore([status, body]);
      const failure = await deployTo(store.url).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(UploadError);
      expect(failure).toMatchObject({ status, reason, actor: 'user' });
      expect(String(failure)).not.toMatch(/s3cret|undefined/);
      expect(store.posted).toHaveLength(1);
    },
  );

  test('a store that goes on failing ends it, as does one that answers a redirect', async () => {
    await using failing = await startUploadStore([500, '']);
    await expect(deployTo(failing.url)).rejects.toMatchObject({ status: 500, actor: 'service' });
    expect(failing.posted).toHaveLength(3);
    await using elsewhere = await startUploadStore([307, '']);
    await expect(deployTo(elsewhere.url)).rejects.toMatchObject({ status: 307 });
  });

  test('a store that does not answer ends it', async () => {
    await using store = await startUploadStore('silent');
    const retry = { attempts: 1, baseMs: 0, maxMs: 0 };
    await expect(deployTo(store.url, { timeoutMs: 100, retry })).rejects.toBeInstanceOf(TimeoutError);
  });

  test('an abort while the archive is hashed sends nothing', async () => {
    const cause = new Error('Ctrl-C');
    const failure = deployTo('http://127.0.0.1:1', { signal: AbortSignal.abort(cause) });
    const message = 'deployments.create: aborted while the archive was hashed';
    await expect(failure).rejects.toMatchObject({ code: 'aborted', message, cause });
  });

  test('a store that stops reading ends it, and the archive was not read into memory', async () => {
    truncateSync(archive, LARGE);
    await using store = await startUploadStore('silent');
    let sent = 0;
    const onProgress = (progress: DeployProgress) => {
      if (progress.step === 'uploading') ({ sent } = progress);
    };
    const retry = { attempts: 1, baseMs: 0, maxMs: 0 };
    const failure = deployTo(store.url, { timeoutMs: 1_000, retry, onProgress });
    await expect(failure).rejects.toBeInstanceOf(TimeoutError);
    expect(sent).toBeLessThan(LARGE / 2);
  });

  test('it can be aborted while uploading', async () => {
    truncateSync(archive, LARGE);
    await using store = await startUploadStore('silent');
    const controller = new AbortController();
    const onProgress = ({ step }: DeployProgress) => step === 'uploading' && controller.abort();
    const { signal } = controller;
    await expect(deployTo(store.url, { signal, onProgress })).rejects.toBeInstanceOf(AbortedError);
  });

  test.each([
    ['other bytes', (path: string) => writeFileSync(path, 'other version')],
    ['fewer bytes', (path: string) => truncateSync(path, 5)],
  ])('an archive that has %s by then never arrives as a whole', async (_, change) => {
    await using store = await startUploadStore([204, '']);
    const onProgress = ({ step }: DeployProgress) => step === 'made' && change(archive);
    const error = new ArchiveError(archive, 'was changed while it was sent; deploy it once more');
    const { code, message } = error;
    await expect(deployTo(store.url, { onProgress })).rejects.toMatchObject({ code, message });
    expect(store.posted).toEqual([]);
  });

  test.each([
    ['no fields', { upload_url: 'http://127.0.0.1:1/x' }, 'upload_fields'],
    [
      'fields that are text',
      { upload_url: 'http://127.0.0.1:1/x', upload_fields: 's3cret' },
      'upload_fields',
    ],
    ['fields and no address', { upload_fields: UPLOAD_FIELDS }, 'upload_url'],
  ])('an answer with %s is no success, and says what is made', async (_, answer, missing) => {
    const failure = await deployAnswered(answer).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UploadError);
    const what = 'deployments.create: deployment 44 is made (soft_update), and its archive is not uploaded';
    expect(String(failure)).toContain(what);
    expect(String(failure)).toContain(missing);
    expect(String(failure)).not.toContain('s3cret');
  });

  test.each([{}, { upload_url: null, upload_fields: null }, { upload_url: '', upload_fields: {} }])(
    'an answer with %j wants no archive',
    async (answer) => {
      await expect(deployAnswered(answer)).resolves.toMatchObject({ uploaded: false });
    },
  );

  /** Against a service that answers so. */
  async function deployAnswered(answer: object, more: object = {}) {
    const made = { success: true, action: 'soft_update', deployment_id: 44, ...answer };
    await using server = await serve((_, response) => response.end(JSON.stringify(made)));
    return await deployTo(server.url, more);
  }

  test.each(['file:///etc/passwd', 'xhttp://a', 'a'])('%s is an answer that cannot be read', async (url) => {
    const answer = { upload_url: url, upload_fields: {} };
    await expect(deployAnswered(answer)).rejects.toBeInstanceOf(ResponseError);
  });
});
