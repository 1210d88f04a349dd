/** The files of the status page, read once at start. The build copies them beside the bundle. */
import { readFileSync } from 'node:fs';
import { plain, type Reply, type Routes } from '../../http/listener.ts';

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html',
  css: 'text/css',
  js: 'text/javascript',
  svg: 'image/svg+xml',
};

const FILES = [
  'status.css',
  'flame.svg',
  'status.js',
  'status-dom.js',
  'status-words.js',
  'status-verdict.js',
  'status-deployments.js',
  'status-logs.js',
  'status-watches.js',
] as const;

export function statusPageRoutes(): Routes {
  const page = reply('status.html');
  return {
    'GET /': () => page,
    ...Object.fromEntries(
      FILES.map((name) => {
        const file = reply(name);
        return [`GET /${name}`, () => file];
      }),
    ),
  };
}

function reply(name: string): Reply {
  const body = readFileSync(new URL(name, import.meta.url), 'utf8');
  return { ...plain(200, body), type: TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain' };
}
