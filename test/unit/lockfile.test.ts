import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { root } from '../support/optional.ts';

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')) as {
  packages: Readonly<Record<string, LockedPackage>>;
};

/** Where Node finds a package from the folder `from`: in its own node_modules, or in that of a folder above. */
function find(name: string, from: string): LockedPackage | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const found = packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`];
    if (found !== undefined || folder === '') return found;
  }
}

test('holds the binaries of every platform, without which npm ci refuses it', () => {
  const binaries = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).map((name) => ({ path, name })),
  );
  expect(binaries.length).toBeGreaterThan(50);
  expect(binaries.filter(({ path, name }) => find(name, path) === undefined)).toEqual([]);
});

test('pins each package by its hash, and names no registry', () => {
  const locked = Object.entries(packages).filter(([path]) => path !== '');
  const loose = locked.filter(([, one]) => one.integrity === undefined || one.resolved !== undefined);
  expect(loose.map(([path]) => path)).toEqual([]);
});
