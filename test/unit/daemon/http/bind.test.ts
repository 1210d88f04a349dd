import { chownSync, existsSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listen, type HttpListener } from '../../../../src/daemon/http/listener.ts';
import { plain } from '../../../../src/daemon/http/reply.ts';
import { ask } from '../../../support/raw-http.ts';
import { startProgram } from '../../../support/process.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
const open: HttpListener[] = [];
const umask = process.umask();
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'admin.sock');
});
afterEach(async () => {
  process.umask(umask);
  for (const listener of open.splice(0)) await listener.close();
  folder[Symbol.dispose]();
});

async function serve(at = path): Promise<HttpListener> {
  const listener = await listen({
    address: { path: at },
    onError() {},
    isForPrograms: true,
    routes: { 'GET /hello': () => plain(200, 'hello\n'), 'POST /do': () => plain(202, 'done\n') },
  });
  open.push(listener);
  return listener;
}

function modeOf(file: string): string {
  return (lstatSync(file).mode & 0o777).toString(8);
}

/** A socket whose process was killed. */
async function leaveStale(): Promise<void> {
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('bound'))`;
  await using program = startProgram(process.execPath, ['-e', script]);
  await program.seen(/bound/);
}

test('a listener on a socket file answers there and nowhere else, and its file goes with it', async () => {
  const listener = await serve();
  expect(listener.url).toBe(`unix:${path}`);
  expect(await ask(listener.url, 'GET', '/hello')).toEqual({ status: 200, body: 'hello\n' });
  expect(await ask(listener.url, 'POST', '/do', { host: 'any' })).toEqual({ status: 202, body: 'done\n' });
  const foreign = await ask(listener.url, 'POST', '/do', { origin: 'https://evil.example' });
  expect(foreign.status).toBe(403);
  await listener.close();
  expect(existsSync(path)).toBe(false);
});

test('only this user may open it, also where the umask is 0, which stays as it was', async () => {
  process.umask(0);
  await serve();
  expect(modeOf(path)).toBe('600');
  expect(process.umask()).toBe(0);
});

test('a socket takes the place of one whose process was killed', async () => {
  await leaveStale();
  expect(lstatSync(path).isSocket()).toBe(true);
  const { url } = await serve();
  expect((await ask(url, 'GET', '/hello')).status).toBe(200);
});

test('a socket does not take the place of one that somebody listens on', async () => {
  const { url } = await serve();
  const failed = serve();
  await expect(failed).rejects.toThrow(`${path}: another process listens there`);
  await expect(failed).rejects.toMatchObject({ code: 'socket_file', actor: 'user' });
  expect((await ask(url, 'GET', '/hello')).status).toBe(200);
});

test('a socket does not take the place of one whose process is too busy to accept', async () => {
  const script =
    `require('node:net').createServer().listen({ path: ${JSON.stringify(path)}, backlog: 1 }, () => {` +
    " require('node:fs').writeSync(1, 'bound'); for (;;); })";
  await using program = startProgram(process.execPath, ['-e', script]);
  await program.seen(/bound/);
  await expect(serve()).rejects.toThrow('another process listens there');
  expect(existsSync(path)).toBe(true);
});

test('a file that is not a socket stays where it is', async () => {
  writeFileSync(path, 'precious');
  await expect(serve()).rejects.toThrow(`${path}: a file that is no socket is there, and stays`);
  const link = join(folder.path, 'link.sock');
  symlinkSync(path, link);
  await expect(serve(link)).rejects.toThrow('a file that is no socket is there, and stays');
  expect(existsSync(path)).toBe(true);
});

test('an error says what is wrong with the folder', async () => {
  const missing = join(folder.path, 'not-there');
  await expect(serve(join(missing, 'admin.sock'))).rejects.toThrow(`the folder ${missing} is not there`);
  const file = join(folder.path, 'file');
  writeFileSync(file, '');
  await expect(serve(join(file, 'admin.sock'))).rejects.toThrow(`${file} is no folder`);
});

test('an error says that the folder is not writable', async () => {
  // The superuser may write everywhere but where the kernel lets nobody.
  const closed = process.getuid?.() === 0 ? '/proc' : join(folder.path, 'closed');
  if (closed !== '/proc') mkdirSync(closed, { mode: 0o500 });
  await expect(serve(join(closed, 'admin.sock'))).rejects.toThrow('may not write in the folder');
});

test.skipIf(process.getuid?.() !== 0)('a socket does not take the place of one of another user', async () => {
  await leaveStale();
  chownSync(path, 65_532, 65_532);
  await expect(serve()).rejects.toThrow(`a socket of another user (uid 65532) is there, and stays`);
});
