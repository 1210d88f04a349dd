/** The three files of the status page, read once at start. The build copies them beside the bundle. */
import { readFileSync } from 'node:fs';
import { plain, type Routes } from '../http-server.ts';

export function statusPageRoutes(): Routes {
  const page = read('status.html');
  const style = read('status.css');
  const script = read('status.js');
  return {
    'GET /': () => ({ ...plain(200, page), type: 'text/html' }),
    'GET /status.css': () => ({ ...plain(200, style), type: 'text/css' }),
    'GET /status.js': () => ({ ...plain(200, script), type: 'text/javascript' }),
  };
}

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}
