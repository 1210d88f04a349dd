/** A file system that is read-only is called that, whatever Node and SQLite make of it. */
import { join } from 'node:path';
import * as sqlite from 'node:sqlite';
import { expect, test } from 'vitest';
import { DatabaseFile, type DatabaseFormat } from '../../../src/storage/database-file.ts';
import { makePrivateFolder } from '../../../src/storage/private-folder.ts';
import { describeOnSmallDisk, smallDisk } from '../../support/small-disk.ts';

const FORMAT: DatabaseFormat = {
  version: 1,
  schema: 'CREATE TABLE line (text TEXT) STRICT;',
  synchronous: 'NORMAL',
  isChecked: true,
};

describeOnSmallDisk('on a read-only file system', () => {
  test.each([['one'], ['one/in/another']])('a folder %s', (name) => {
    using disk = smallDisk(1_024);
    disk.readOnly();
    expect(() => makePrivateFolder(join(disk.path, name))).toThrow(/^EROFS: /);
    // What is there is no trouble.
    makePrivateFolder(disk.path);
  });

  test('a database that is there, and one that is to be made', () => {
    using disk = smallDisk(1_024);
    const path = join(disk.path, 'there.sqlite');
    new DatabaseFile(sqlite, path, FORMAT).close();
    disk.readOnly();
    for (const name of ['there.sqlite', 'new.sqlite'])
      expect(() => new DatabaseFile(sqlite, join(disk.path, name), FORMAT)).toThrow(/^EROFS: /);
    disk.writable();
    new DatabaseFile(sqlite, path, FORMAT).close();
  });
});

test('what is missing is still called that', () => {
  // There no folder can be made.
  expect(() => makePrivateFolder('/proc/nothing/here')).toThrow(/^ENOENT: /);
});
