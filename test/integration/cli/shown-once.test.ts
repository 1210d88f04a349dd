/** What a command gets that exists nowhere else is not lost: to Ctrl-C, to a full disk, to a reader that has left. */
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { serve } from '../../support/local-server.ts';
import { pilotlight } from '../../support/console.ts';
import { startPilotlight, startProgram } from '../../support/process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { PROGRAM } from '../../support/program.ts';

let answer: (response: ServerResponse, path: string) => void;
const server = await serve((request, response) => {
  request.resume();
  request.on('end', () => answer(response, request.url ?? ''));
});
afterAll(() => server.close());

const KEY = '{"success":true,"id":9,"key":"s3cret"}';
const CREATE_KEY = ['api-key', 'create', '--name', 'x'];
const RENT = ['instance', 'create', '1', '--image', 'a', '--disk', '1'];
const run = (words: readonly string[], signal?: AbortSignal) =>
  pilotlight(words, { env: { API_KEY: 'key', BASE_URL: server.url }, ...(signal && { signal }) });
const ENVIRONMENT = { PILOTLIGHT_API_KEY: 'key', PILOTLIGHT_BASE_URL: server.url };

describe('Ctrl-C', () => {
  /** Once the request has come; `then` is what becomes of it. */
  function interrupted(words: readonly string[], then: (response: ServerResponse) => unknown = () => {}) {
    const controller = new AbortController();
    answer = (response) => {
      controller.abort();
      setImmediate(() => then(response));
    };
    return run(words, controller.signal);
  }

  test('waits for the answer to what was sent, and prints it', async () => {
    const ran = await interrupted(RENT, (response) => response.end('{"new_contract":505}'));
    expect(ran).toMatchObject({ code: 130, stdout: expect.stringMatching(/new_contract +505/) });
    expect(ran.stderr).toMatch(/^Waiting up to 5 s for the answer/);
  });

  test.each([
    [RENT, 'pilotlight instance list'],
    [CREATE_KEY, 'pilotlight api-key list'],
  ])('says where no answer comes that it may have been done: %s', async (words, view) => {
    const ran = await interrupted(words, (response) => response.destroy());
    expect(ran).toMatchObject({ code: 130, stdout: '' });
    expect(ran.stderr).toContain(`It may have been done: see ${view}.`);
  });

  test('does not hide an answer that cannot be read', async () => {
    const ran = await interrupted(CREATE_KEY, (response) => response.end('{"key":"s3cret'));
    expect(ran).toMatchObject({ code: 130, stdout: '{"key":"s3cret\n' });
  });

  test('ends what can be asked again at once, without a word', async () => {
    expect(await interrupted(['instance', 'list'])).toEqual({ code: 130, stdout: '', stderr: '' });
  });

  test('a second time ends a process at once', async () => {
    const arrived = Promise.withResolvers<void>();
    answer = () => arrived.resolve();
    await using program = startPilotlight(RENT, ENVIRONMENT);
    await arrived.promise;
    program.child.kill('SIGINT');
    await program.seen(/Waiting up to 5 s/);
    program.child.kill('SIGINT');
    expect(await program.exit).toBe(130);
  });

  test.each(['interrupted', 'refused'])(
    'an upload that is %s names the deployment that was made',
    async (how) => {
      using folder = temporaryFolder();
      const archive = join(folder.path, 'code.tar.gz');
      writeFileSync(archive, 'code');
      const controller = new AbortController();
      answer = (response, path) => {
        const upload = { upload_url: `${server.url}/upload`, upload_fields: {} };
        if (path !== '/upload')
          response.end(JSON.stringify({ action: 'created', deployment_id: 44, ...upload }));
        else if (how === 'refused') response.writeHead(403).end();
        else controller.abort();
      };
      const words = ['deployment', 'deploy', archive, '--name', 'a', '--image', 'b'];
      const ran = await run(words, controller.signal);
      expect(ran.code).toBe(how === 'refused' ? 1 : 130);
      expect(ran.stderr).toContain('Deployment 44 was made, but its archive is not uploaded');
    },
  );
});

describe('where standard output does not take it, standard error does', () => {
  test.each([CREATE_KEY, [...CREATE_KEY, '--json']])('a full disk: %s %s %s %s %s', async (...words) => {
    answer = (response) => void response.end(KEY);
    await using program = startProgram(
      'sh',
      ['-c', 'exec "$0" "$@" >/dev/full', process.execPath, PROGRAM, ...words],
      ENVIRONMENT,
    );
    expect(await program.exit).toBe(1);
    expect(program.stderr()).toContain('s3cret');
    expect(program.stderr()).toContain('ENOSPC');
  });

  test.each([KEY, '{"key":"s3cret'])('a reader that has left: %s', async (body) => {
    answer = (response) => void response.end(body);
    using folder = temporaryFolder();
    const script = 'mkfifo p; : <p & exec 3>p; wait; exec "$0" "$@" >&3';
    const words = ['-c', script, process.execPath, PROGRAM, ...CREATE_KEY];
    await using program = startProgram('sh', words, ENVIRONMENT, folder.path);
    expect(await program.exit).toBe(1);
    expect(program.stderr()).toContain('s3cret');
  });
});

test('a bulk creation that rents nothing prints its reasons, and fails', async () => {
  const refused = { success: false, error: 'invalid_offer', msg: 'gone' };
  answer = (response) =>
    void response.end(JSON.stringify({ success: false, error: 'none', results: { 1: refused, 2: refused } }));
  const ran = await run(['instance', 'create-bulk', '--ids', '1', '--ids', '2', '--image', 'a']);
  expect(ran).toMatchObject({ code: 1, stdout: expect.stringMatching(/invalid_offer +gone/) });
});
