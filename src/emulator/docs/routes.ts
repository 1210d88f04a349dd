/** `/openapi.json` and the page at `/docs` that draws it; made when they are asked for, since most runs need neither. */
import { readFileSync } from 'node:fs';
import { openApiDocument } from '../../openapi/document.ts';
import { jsonAnswer, textAnswer, type Answer } from '../answers/answer.ts';

/** Nothing but what the emulator itself serves. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:";

const FILES: Readonly<Record<string, { readonly name: string; readonly type: string }>> = {
  '/docs': { name: 'docs.html', type: 'text/html; charset=utf-8' },
  '/docs/docs.css': { name: 'docs.css', type: 'text/css; charset=utf-8' },
  '/docs/docs.js': { name: 'docs.js', type: 'text/javascript; charset=utf-8' },
};

/** `host`: as the client calls the emulator. Undefined for anything that is not the documentation's. */
export function docsAnswer(method: string, url: string, host: string | undefined): Answer | undefined {
  if (method !== 'GET' || !(url.startsWith('/docs') || url.startsWith('/openapi.json'))) return undefined;
  const path = url.replace(/\?.*$/, '').replace(/(.)\/$/, '$1');
  if (path === '/openapi.json')
    return jsonAnswer(200, openApiDocument(host === undefined ? {} : { baseUrl: `http://${host}` }));
  const file = Object.hasOwn(FILES, path) ? FILES[path] : undefined;
  if (!file) return undefined;
  const text = readFileSync(new URL(file.name, import.meta.url), 'utf8');
  return { ...textAnswer(200, file.type, text), headers: { 'content-security-policy': POLICY } };
}
