/** What GitHub reads beside the workflows: updates, forms for issues, the security policy. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { root } from '../../support/optional.ts';

function read(path: string): unknown {
  return parse(readFileSync(root + path, 'utf8'), { strict: true, uniqueKeys: true });
}

/** What each of them reads. */
const FILES: Readonly<Record<string, string>> = {
  npm: 'package-lock.json',
  'github-actions': '.github/workflows',
  docker: 'Dockerfile',
  'docker-compose': 'compose.yaml',
};

test('updates of dependencies come for everything that this repository takes from others', () => {
  const { version, updates } = read('.github/dependabot.yml') as {
    readonly version: number;
    readonly updates: readonly { readonly 'package-ecosystem': string; readonly directory: string }[];
  };
  expect(version).toBe(2);
  expect(updates.map((one) => one['package-ecosystem'])).toEqual(Object.keys(FILES));
  for (const { 'package-ecosystem': name, directory } of updates)
    expect([name, existsSync(join(root, directory, FILES[name] ?? ''))]).toEqual([name, true]);
});

describe.each(
  globSync('.github/ISSUE_TEMPLATE/*.yml', { cwd: root }).filter((file) => basename(file) !== 'config.yml'),
)('%s', (file) => {
  interface Field {
    readonly type: string;
    readonly id?: string;
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly validations?: Readonly<Record<string, unknown>>;
  }
  const form = read(file) as Readonly<Record<string, unknown>> & { readonly body: readonly Field[] };

  test('has what a form for issues has, and nothing else', () => {
    expect(Object.keys(form)).toEqual(['name', 'description', 'labels', 'body']);
    for (const { type, id, attributes, validations = {}, ...other } of form.body) {
      expect(other).toEqual({});
      expect(['markdown', 'textarea', 'input', 'dropdown']).toContain(type);
      expect(attributes).toHaveProperty(type === 'markdown' ? 'value' : 'label', expect.any(String));
      if (type === 'dropdown')
        expect(attributes['options']).toEqual(expect.arrayContaining([expect.any(String)]));
      expect(Object.keys(validations)).toEqual('required' in validations ? ['required'] : []);
      expect(typeof id).toBe(type === 'markdown' ? 'undefined' : 'string');
    }
  });

  test('asks for each thing once, and needs something', () => {
    const ids = form.body.flatMap(({ id }) => (id === undefined ? [] : [id]));
    expect(ids).toEqual([...new Set(ids)]);
    expect(form.body.some(({ validations }) => validations?.['required'] === true)).toBe(true);
  });
});

test('whoever found a hole is told where to say so, and that a form is not the place', () => {
  expect(readFileSync(`${root}.github/SECURITY.md`, 'utf8')).toContain('Report a vulnerability');
  expect(readFileSync(`${root}.github/ISSUE_TEMPLATE/bug.yml`, 'utf8')).toContain('see the security policy');
  expect(read('.github/ISSUE_TEMPLATE/config.yml')).toEqual({ blank_issues_enabled: false });
});
