import { mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkPageFile, writePageFile } from '../../../src/cli/page-file.ts';
import { pilotlight } from '../../support/console.ts';
import { describeWith } from '../../support/optional.ts';
import { canMount, smallDisk } from '../../support/small-disk.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const PLAN = ['plan', '--load', 'constant', '--rate', '100', '--duration', '10m', '--performance', '100'];

test('a page takes the place of the one before, through a link too', async () => {
  using folder = temporaryFolder();
  const [page, link] = [join(folder.path, 'page.html'), join(folder.path, 'link.html')];
  symlinkSync(page, link);
  writeFileSync(page, 'old');
  expect(await writePageFile(link, () => Promise.resolve('new'))).toBeUndefined();
  expect([readFileSync(page, 'utf8'), readlinkSync(link)]).toEqual(['new', page]);
  expect(readdirSync(folder.path).toSorted()).toEqual(['link.html', 'page.html']);
});

test('no name, a folder that is none, and one that is not there are refused before anything is computed', () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, 'file'), '');
  expect(() => checkPageFile('')).toThrow('--html: no file is named');
  expect(() => checkPageFile(join(folder.path, 'file', 'page.html'))).toThrow(/file is no folder$/);
  expect(() => checkPageFile(join(folder.path, 'none', 'page.html'))).toThrow(/ENOENT/);
});

test('a folder is refused before anything is computed', async () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, 'page.html'));
  expect(() => checkPageFile(join(folder.path, 'page.html'))).toThrow('it is a folder; name a file in it');
  const { code, stdout, stderr } = await pilotlight([...PLAN, '--html', folder.path]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(`--html ${folder.path}: it is a folder`);
});

describeWith(
  'mount',
  canMount,
  'run as root, where tmpfs can be mounted',
)('on a full disk', () => {
  test('the old page stays, and the results are told before what is wrong', async () => {
    using disk = smallDisk(40);
    const page = join(disk.path, 'page.html');
    writeFileSync(page, 'old page');
    const { code, stdout, stderr } = await pilotlight([...PLAN, '--html', page]);
    expect(code).toBe(2);
    expect(stdout).toContain('cost');
    expect(stdout).not.toContain('Page with the plots');
    expect(stderr).toMatch(new RegExp(`--html ${page}: ENOSPC.*\n$`));
    expect(readFileSync(page, 'utf8')).toBe('old page');
    expect(readdirSync(disk.path)).toEqual(['page.html']);
  });
});
