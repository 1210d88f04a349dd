/**
 * The licences of the packages whose code a bundle contains, as one text: most of them ask that it goes with each copy.
 * A package without a licence file is named by what its package.json says.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/**
 * @param inputs Paths of bundled files, relative to `root`.
 * @throws Error where a package says nothing at all of its licence.
 */
export function licences(root: string, inputs: readonly string[]): string {
  const folders = [...new Set(inputs.flatMap((input) => PACKAGE.exec(input)?.[1] ?? []))].toSorted();
  return folders.map((folder) => licence(join(root, folder))).join(`\n${'-'.repeat(80)}\n\n`);
}

function licence(folder: string): string {
  const { name, version, license } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Manifest;
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)(\.|-|$)/i.test(entry));
  if (file === undefined && license === undefined) throw new Error(`${name} ${version} names no licence`);
  const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  return `${name} ${version} (${license ?? 'see below'})\n${text}`;
}
