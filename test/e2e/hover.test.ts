/** What an editor shows of the built declarations: a text for each operation, each field of an input and each export. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATION_IDS, operationOf } from '../../src/contract/operations.ts';
import { volumeInfo } from '../../src/contract/operations/instances/instances.ts';
import { startLanguageServer, type LanguageServer } from '../support/language-server.ts';
import { root } from '../support/optional.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder: ReturnType<typeof temporaryFolder>;
let server: LanguageServer;
beforeAll(async () => {
  folder = temporaryFolder();
  const installed = join(folder.path, 'node_modules/pilotlight');
  mkdirSync(installed, { recursive: true });
  copyFileSync(join(root, 'package.json'), join(installed, 'package.json'));
  execFileSync(process.execPath, [join(root, '.config/build-types.ts'), join(installed, 'dist/types')]);
  for (const name of ['zod', 'undici-types', '@types'])
    symlinkSync(join(root, 'node_modules', name), join(folder.path, 'node_modules', name));
  const target = { module: 'nodenext', target: 'es2024', types: ['node'] };
  const compilerOptions = { strict: true, noEmit: true, ...target };
  writeFileSync(join(folder.path, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  server = await startLanguageServer(folder.path);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Where a word begins on a line of this text, the first being line 0. */
interface Place {
  readonly word: string;
  readonly line: number;
  readonly character: number;
}

function placeOf(owner: string, field: string, text: string, line: number): Place {
  return { word: `${owner} ${field}`, line, character: text.search(new RegExp(`\\b${field}: any`)) };
}

async function withoutText(name: string, places: readonly Place[]): Promise<string[]> {
  const texts = await Promise.all(places.map(async (place) => server.hover(name, place)));
  // A sentence, and then perhaps tags.
  return places.filter((_, index) => !/^(?!\*@)./.test(texts[index] ?? '')).map(({ word }) => word);
}

describe.each([
  ['pilotlight', 85],
  ['pilotlight/emulator', 55],
])('of %s', (name, least) => {
  test('each export has a text', async () => {
    const file = `${name.replace('/', '-')}.ts`;
    server.open(file, `import {  } from '${name}';\n`);
    const words = await server.completions(file, { line: 0, character: 9 });
    const exported = words.filter((word) => word !== 'type');
    expect(exported.length).toBeGreaterThan(least);
    const uses = `${name.replace('/', '-')}-uses.ts`;
    server.open(uses, exported.map((word) => `import { ${word} } from '${name}';\n`).join(''));
    const places = exported.map((word, line) => ({ word, line, character: 9 }));
    expect(await withoutText(uses, places)).toEqual([]);
  });
});

describe('of the client', () => {
  const calls = OPERATION_IDS.map((id) => {
    const { params, query, body } = operationOf(id);
    const fields = [params, query, body].flatMap((part) => Object.keys(part?.shape ?? {}));
    return { id, fields: body || query ? [...fields, 'extra'] : fields };
  });
  const lines = calls.map(({ id, fields }) => {
    const values = fields.map((field) => `${field}: any`);
    return `client.${id}({ ${values.join(', ')} });`;
  });
  const inVolume = Object.keys(volumeInfo.shape);
  const volume = inVolume.map((field) => `${field}: any`).join(', ');
  const nested = `client.instances.create({ offer_id: any, volume_info: { ${volume} } });`;
  beforeAll(() => {
    const head =
      "import type { Client } from 'pilotlight'; declare const client: Client; declare const any: any;";
    server.open('calls.ts', [head, ...lines, nested].join('\n'));
  });

  test('each operation has a text', async () => {
    const places = calls.map(({ id }, index) => ({
      word: id,
      line: index + 1,
      character: `client.${id}`.lastIndexOf('.') + 1,
    }));
    expect(await withoutText('calls.ts', places)).toEqual([]);
  });

  test('each field of an input has a text', async () => {
    const places = calls.flatMap(({ id, fields }, index) =>
      fields.map((field) => placeOf(id, field, lines[index] ?? '', index + 1)),
    );
    for (const field of inVolume) places.push(placeOf('volume_info', field, nested, lines.length + 1));
    expect(places.length).toBeGreaterThan(250);
    expect(await withoutText('calls.ts', places)).toEqual([]);
  });

  test('what is deprecated is struck through, and all calls compile', async () => {
    const marks = await server.marks('calls.ts');
    const struck = marks
      .filter(({ tags }) => tags?.includes(2))
      .map(({ range }) => calls[range.start.line - 1]?.id);
    expect(struck).toEqual(OPERATION_IDS.filter((id) => operationOf(id).replacedBy !== undefined));
    expect(marks.filter(({ severity }) => severity === 1)).toEqual([]);
  });

  test('the types with texts are those that derive from the table', async () => {
    const types = './node_modules/pilotlight/dist/types';
    server.open(
      'same.ts',
      `import type { Client, OperationId } from 'pilotlight';
       import type { ClientOf } from '${types}/client/caller.js';
       import type { DerivedInputs, Inputs } from '${types}/contract/operations.js';
       type Same<A, B> = [A, B] extends [B, A] ? true : false;
       type Other = { [Id in OperationId]: Same<Inputs[Id], DerivedInputs[Id]> extends true ? never : Id };
       export const same: Same<Other[OperationId], never> = true;
       export const sameClient: Same<Client, ClientOf<OperationId>> = true;
       export const other: Same<{ id: number }, { id?: number }> = false;`,
    );
    expect(await server.marks('same.ts')).toEqual([]);
  });
});
