/** Read at start; the large files of plots when asked for. The build copies all. */
import { readFileSync } from 'node:fs';
import { plotFile, type PlotFile } from '../../../build-info.ts';
import { plain, type Reply, type Routes } from '../../http/reply.ts';

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
  'status-access.js',
  'status-dom.js',
  'status-words.js',
  'status-summary.js',
  'status-cards.js',
  'endpoints.js',
  'plot.js',
];
const PLOT_FILES = ['uPlot.iife.min.js', 'uPlot.min.css'] as const satisfies readonly PlotFile[];

export function statusPageRoutes(): { readonly page: Reply; readonly files: Routes } {
  const page = reply('status.html', pageFile);
  const files = {
    ...Object.fromEntries(
      FILES.map((name) => {
        const file = reply(name, pageFile);
        return [`GET /${name}`, () => file];
      }),
    ),
    ...Object.fromEntries(PLOT_FILES.map((name) => [`GET /${name}`, () => reply(name, plotFile)])),
  };
  return { page, files };
}

function reply<Name extends string>(name: Name, read: (name: Name) => string): Reply {
  return { ...plain(200, read(name)), type: TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain' };
}

export function pageFile(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}
