import { existsSync, globSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anchorsOf, DOCUMENTS, linksOf, spansOf, textOf, urlOf } from '../../docs/documents.ts';
import { root } from '../../support/optional.ts';

const REPOSITORY_FILES = ['src', 'test', 'deploy', '.config', '.ci', '.github'].flatMap((folder) =>
  globSync(`${folder}/**`, { cwd: root }),
);
const NAMES = new Set(REPOSITORY_FILES.map((path) => posix.basename(path)));

/** What a build or an install makes, and what a user imports. */
const MADE = /^(?:dist|node_modules|pilotlight)\//;
/** A path with a folder of the repository in front, or a name with the ending of a source. */
const PATH = /^(?:\.?[\w-]+\/)*[\w.-]*\/?$/;
const SOURCE = /^[\w.-]+\.(?:ts|js|mjs|css|yml|service)$/;
/** Names that stand for what a reader would write. */
const PLACEHOLDER = /\bNAME\b/;

/** Spans that name a file or folder of the repository. */
function pathsIn(text: string): string[] {
  return spansOf(text).filter(
    (span) =>
      !PLACEHOLDER.test(span) &&
      !MADE.test(span) &&
      (SOURCE.test(span) || (PATH.test(span) && span.includes('/'))),
  );
}

function isThere(path: string, folder: string): boolean {
  const places = [path, posix.join(folder, path), posix.join('src', path)];
  return places.some((place) => existsSync(urlOf(place))) || (SOURCE.test(path) && NAMES.has(path));
}

describe.each(DOCUMENTS)('%s', (document) => {
  const text = textOf(document);
  const folder = posix.dirname(document);

  test('leads to files and headings that are there', () => {
    const broken = linksOf(text)
      .filter((link) => !/^\w+:/.test(link))
      .filter((link) => {
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? document : posix.join(folder, path);
        if (!existsSync(urlOf(target))) return true;
        return anchor !== undefined && !anchorsOf(textOf(target)).includes(anchor);
      });
    expect(broken).toEqual([]);
  });

  test('names no file that is not there', () => {
    expect(pathsIn(text).filter((path) => !isThere(path, folder))).toEqual([]);
  });

  test('leads out of the repository to nothing but what it cites', () => {
    expect(linksOf(text).filter((link) => /^\w+:/.test(link) || link.includes('../../..'))).toEqual([]);
  });
});

test('every document is led to by another', () => {
  const linked = new Set(
    DOCUMENTS.flatMap((document) =>
      linksOf(textOf(document)).map((link) =>
        posix.join(posix.dirname(document), link.split('#')[0] || posix.basename(document)),
      ),
    ),
  );
  expect(DOCUMENTS.filter((document) => document !== 'README.md' && !linked.has(document))).toEqual([]);
});

const SOURCES = REPOSITORY_FILES.filter((path) => /^(?:src|test)\/.*\.(?:ts|js)$/.test(path));

test('what a § in a comment means is told in src/contract/README.md', () => {
  const told = new Set(
    [...textOf('src/contract/README.md').matchAll(/\| (§[\d.]+) \|/g)].map(([, one]) => one),
  );
  const cited = SOURCES.flatMap((path) => textOf(path).match(/(?<!RFC \d+ )§\d+(?:\.\d+)*/g) ?? []);
  expect(cited.length).toBeGreaterThan(100);
  expect([...new Set(cited)].filter((section) => !told.has(section))).toEqual([]);
});

test('no comment cites a page that is not in the repository', () => {
  const pages = new Set(DOCUMENTS.map((document) => posix.basename(document)));
  const cited = SOURCES.flatMap((path) => textOf(path).match(/^\s*(?:\/?\*|\/\/).*\.md\b/gm) ?? []);
  const missing = cited.filter((line) =>
    (line.match(/[\w-]+\.md\b/g) ?? []).some((page) => !pages.has(page)),
  );
  expect(missing).toEqual([]);
});
