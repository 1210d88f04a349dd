/** A file of ours on disk: private, of one version, and gone if it was never whole. */
import { existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as sqlite from 'node:sqlite';
import { expect, test } from 'vitest';
import {
  DatabaseFile,
  isUnreadable,
  setAside,
  type DatabaseFormat,
} from '../../../src/storage/database-file.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const FORMAT: DatabaseFormat = {
  version: 2,
  schema: 'CREATE TABLE line (text TEXT) STRICT;',
  synchronous: 'NORMAL',
  isChecked: true,
};

test('a new file is private, and known by its place', () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'lines.sqlite');
  const file = new DatabaseFile(sqlite, path, FORMAT);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(file.isInPlace()).toBe(true);
  renameSync(path, `${path}.old`);
  expect(file.isInPlace()).toBe(false);
  file.close();
});

test('a new file that cannot be made leaves nothing behind', () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'lines.sqlite');
  expect(() => new DatabaseFile(sqlite, path, { ...FORMAT, schema: 'nonsense;' })).toThrow('syntax error');
  expect(['', '-wal', '-shm'].filter((suffix) => existsSync(path + suffix))).toEqual([]);
});

test('a file of an earlier version is unreadable, and stays', () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'lines.sqlite');
  new DatabaseFile(sqlite, path, { ...FORMAT, version: 1 }).close();
  expect(() => new DatabaseFile(sqlite, path, FORMAT)).toThrow(
    expect.toSatisfy((error) => isUnreadable(error) && String(error).includes('its version is 1, not 2')),
  );
  expect([isUnreadable('a word'), existsSync(path)]).toEqual([false, true]);
  const foreign = new sqlite.DatabaseSync(`${path}.foreign`);
  foreign.exec('CREATE TABLE other (text TEXT)');
  foreign.close();
  expect(() => new DatabaseFile(sqlite, `${path}.foreign`, FORMAT)).toThrow('its version is 0, not 2');
  expect(() => setAside(`${path}/x`, undefined, 0)).toThrow('ENOTDIR');
});
