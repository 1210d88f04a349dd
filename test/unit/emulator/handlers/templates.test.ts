import { describe, expect, test } from 'vitest';
import type { FilterOperator } from '../../../../src/contract/schemas.ts';
import {
  EXAMPLE_HASH,
  templateFilters,
  templateOperations,
  type TemplateFields,
} from '../../../../src/contract/operations/templates.ts';
import type { HandlerContext } from '../../../../src/emulator/handlers/define.ts';
import {
  contentOf,
  findTemplate,
  matchesFilters,
  templateHandlers,
  templateHash,
  templateView,
} from '../../../../src/emulator/handlers/templates.ts';
import { buildState } from '../../../../src/emulator/seed/build.ts';
import type { State } from '../../../../src/emulator/state/state.ts';

const FIELDS: TemplateFields = {
  name: 'n',
  image: 'i',
  docker_login_repo: '',
  docker_login_user: '',
  docker_login_pass: '',
};

function store(state: State, userId: number, given: TemplateFields) {
  const context = { state, user: { id: userId }, nowMs: userId } as unknown as HandlerContext;
  const { id } = templateHandlers['templates.create'](given, context).template as { id: number };
  return state.templates.get(id)!;
}

describe('the hash', () => {
  test('has no part of who stored it, when, as which id, or in which order the fields came', () => {
    const state = buildState({}, {}, 0);
    const given = { ...FIELDS, env: '', extra_filters: { gpu_ram: { gte: 1, lte: 2 } }, href: undefined };
    const reversed = {
      extra_filters: { gpu_ram: { lte: 2, gte: 1 } },
      env: '',
      jupyter_dir: null,
      ...Object.fromEntries(Object.entries(FIELDS).reverse()),
    } as unknown as TemplateFields;
    const [first, second] = [store(state, 1, given), store(state, 2, reversed)];
    expect(second.id).not.toBe(first.id);
    expect(second.hash_id).toBe(first.hash_id);
  });

  test.each<Partial<TemplateFields>>([
    { desc: 'd' },
    { ssh_direct: true },
    { recommended_disk_space: 9 },
    { extra_filters: { gpu_ram: { gte: 1 } } },
    { volume_info: { size: 5, name: 'v' } },
  ])('is another with %j', (more) => {
    expect(templateHash(contentOf({ ...FIELDS, ...more }))).not.toBe(templateHash(contentOf(FIELDS)));
  });

  test("of the contract's example is the one that its examples name", () => {
    const { input } = templateOperations['templates.create'].example;
    expect(templateHash(contentOf(input))).toBe(EXAMPLE_HASH);
    const edited = { ...input, desc: 'serves chat' };
    const { template } = templateOperations['templates.edit'].example.response;
    expect(templateHash(contentOf(edited))).toBe(template.hash_id);
    expect(buildState({}, {}, 0).templates.get(9)?.hash_id).toBe(EXAMPLE_HASH);
  });
});

test('of several templates with one hash the own one counts, then the newest', () => {
  const state = buildState({ templates: [] }, {}, 0);
  const [own, ofOther, newest] = [1, 2, 2].map((userId) => store(state, userId, FIELDS));
  const hash = own?.hash_id ?? '';
  expect(findTemplate(state, hash, 1)?.id).toBe(own?.id);
  expect(findTemplate(state, hash, 2)?.id).toBe(newest?.id);
  expect(findTemplate(state, hash, 3)?.id).toBe(newest?.id);
  expect(ofOther?.id).toBeLessThan(newest?.id ?? 0);
});

describe('select_filters', () => {
  const found = (row: object, filters: object) => matchesFilters({ ...row }, templateFilters.parse(filters));

  test.each<[Partial<Record<FilterOperator, unknown>>, boolean[]]>([
    [{ eq: 2 }, [false, true, false]],
    [{ neq: 2 }, [true, false, true]],
    [{ lt: 2 }, [true, false, false]],
    [{ lte: 2 }, [true, true, false]],
    [{ gt: 2 }, [false, false, true]],
    [{ gte: 2 }, [false, true, true]],
    [{ in: [2, 3] }, [false, true, true]],
    [{ notin: [2, 3] }, [true, false, false]],
    [{ in: [] }, [false, false, false]],
    [{ gt: 1, neq: 3 }, [false, true, false]],
  ])('%j of 1, 2 and 3', (id, holds) => {
    expect([1, 2, 3].map((value) => found({ id: value }, { id }))).toEqual(holds);
  });

  test('compares texts by their code units, and holds if each field does', () => {
    const row = { name: 'b', tag: 'latest', recommended: false };
    const below = ['B', 'a', 'b', 'ä'].filter((text) => found(row, { name: { gt: text } }));
    expect(below).toEqual(['B', 'a']);
    expect(found(row, { name: { eq: 'b' }, recommended: { eq: false } })).toBe(true);
    expect(found(row, { name: { eq: 'b' }, tag: { eq: 'other' } })).toBe(false);
    expect(found(row, {})).toBe(true);
  });

  test('knows all sixteen fields, each of which a template has', () => {
    const fields = Object.keys(templateFilters.shape);
    expect(fields).toHaveLength(16);
    const template = buildState({}, {}, 0).templates.get(9)!;
    expect(Object.keys(templateView(template))).toEqual(expect.arrayContaining(fields));
  });

  test('has a rule for a template that was never used', () => {
    const never = { recent_create_date: null };
    const holds = (filter: object) => found(never, { recent_create_date: filter });
    const others = [{ eq: 0 }, { lt: 9 }, { lte: 9 }, { gt: 0 }, { gte: 0 }, { in: [0] }];
    expect(others.filter(holds)).toEqual([]);
    expect([{ neq: 0 }, { notin: [0] }].map(holds)).toEqual([true, true]);
  });
});
