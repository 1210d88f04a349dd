import { isDeepStrictEqual } from 'node:util';
import * as fc from '../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import { FILTER_OPERATORS, type FilterOperator } from '../../../../src/contract/schemas.ts';
import {
  EXAMPLE_HASH,
  templateFilters,
  templateOperations,
  type TemplateFields,
  type TemplateFilters,
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

const text = fc.constantFrom('', 'a', 'b', 'B', 'ä', 'latest');
const fields: fc.Arbitrary<TemplateFields> = fc.record(
  {
    name: text,
    image: text,
    tag: text,
    desc: text,
    readme: text,
    env: fc.constantFrom('', '-e A=1', '-p 80:80'),
    onstart: text,
    runtype: fc.constantFrom('ssh' as const, 'jupyter' as const, 'args' as const),
    args_str: text,
    ssh_direct: fc.boolean(),
    use_ssh: fc.boolean(),
    jup_direct: fc.boolean(),
    jupyter_dir: fc.constantFrom(null, '/work'),
    use_jupyter_lab: fc.boolean(),
    docker_login_repo: text,
    docker_login_user: text,
    docker_login_pass: text,
    href: text,
    repo: text,
    extra_filters: fc.constantFrom({}, { gpu_ram: { gte: 1, lte: 2 } }),
    recommended_disk_space: fc.constantFrom(8, 9, 100),
    private: fc.boolean(),
    volume_info: fc.constantFrom(null, { size: 5, name: 'v' }),
  },
  { requiredKeys: ['name', 'image', 'docker_login_repo', 'docker_login_user', 'docker_login_pass'] },
);

/** Stores a template for a user, and edits it. */
function store(state: State, userId: number, given: TemplateFields, nowMs = 0) {
  const context = { state, user: { id: userId }, nowMs } as unknown as HandlerContext;
  const { id } = templateHandlers['templates.create'](given, context).template as { id: number };
  const template = state.templates.get(id)!;
  const edit = (changes: object) =>
    templateHandlers['templates.edit']({ hash_id: template.hash_id, ...changes }, context);
  return { template, edit };
}

describe('the hash', () => {
  test('tells two templates apart exactly when their contents differ', () => {
    fc.assert(
      fc.property(fields, fields, (a, b) => {
        const [one, other] = [contentOf(a), contentOf(b)];
        expect(templateHash(one) === templateHash(other)).toBe(isDeepStrictEqual(one, other));
      }),
    );
  });

  test('has no part of who stored it, when, as which id, or in which order the fields came', () => {
    fc.assert(
      fc.property(fields, (one) => {
        const state = buildState({}, {}, 0);
        const reversed = Object.fromEntries(Object.entries(one).reverse()) as TemplateFields;
        const { template: first } = store(state, 1, one);
        const { template: second } = store(state, 2, reversed, 999);
        expect(second.id).not.toBe(first.id);
        expect(second.hash_id).toBe(first.hash_id);
      }),
    );
  });

  test('changes with every edit that changes anything, and with no other', () => {
    fc.assert(
      fc.property(fields, fields, (stored, changes) => {
        const { template, edit } = store(buildState({}, {}, 0), 1, stored);
        for (const [name, value] of Object.entries(changes)) {
          const [hash, content] = [template.hash_id, template.content];
          edit({ [name]: value });
          expect(template.hash_id === hash).toBe(isDeepStrictEqual(template.content, content));
          if (value !== null) expect(template.content).toHaveProperty(name, value);
        }
      }),
    );
  });

  test("of the contract's example is the one that its examples name", () => {
    const { input } = templateOperations['templates.create'].example;
    expect(templateHash(contentOf(input))).toBe(EXAMPLE_HASH);
    const edited = { ...input, desc: 'serves chat' };
    expect(templateHash(contentOf(edited))).toBe(
      templateOperations['templates.edit'].example.response.template.hash_id,
    );
    expect(buildState({}, {}, 0).templates.get(9)?.hash_id).toBe(EXAMPLE_HASH);
  });
});

test('of several templates with one hash the own one counts, then the newest', () => {
  const state = buildState({ templates: [] }, {}, 0);
  const stored = {
    name: 'n',
    image: 'i',
    docker_login_repo: '',
    docker_login_user: '',
    docker_login_pass: '',
  };
  const [own, ofOther, newest] = [1, 2, 2].map((userId) => store(state, userId, stored).template);
  const hash = own?.hash_id ?? '';
  expect(findTemplate(state, hash, 1)?.id).toBe(own?.id);
  expect(findTemplate(state, hash, 2)?.id).toBe(newest?.id);
  expect(findTemplate(state, hash, 3)?.id).toBe(newest?.id);
  expect(ofOther?.id).toBeLessThan(newest?.id ?? 0);
});

/** Values that meet those of the rows often. */
const VALUES: Readonly<Record<keyof TemplateFilters, fc.Arbitrary<unknown>>> = {
  creator_id: fc.integer({ min: 0, max: 3 }),
  created_at: fc.integer({ min: 0, max: 3 }),
  count_created: fc.integer({ min: 0, max: 3 }),
  default_tag: text,
  docker_login_repo: text,
  id: fc.integer({ min: 0, max: 3 }),
  image: text,
  jup_direct: fc.boolean(),
  hash_id: text,
  name: text,
  recent_create_date: fc.integer({ min: 0, max: 3 }),
  recommended_disk_space: fc.constantFrom(8, 8.5, 100),
  recommended: fc.boolean(),
  ssh_direct: fc.boolean(),
  tag: text,
  use_ssh: fc.boolean(),
};

const FIELDS = Object.keys(VALUES) as (keyof TemplateFilters)[];
const row = fc.record({ ...VALUES, recent_create_date: fc.option(VALUES.recent_create_date) });
const condition = fc.constantFrom(...FIELDS).chain((field) =>
  fc.constantFrom(...FILTER_OPERATORS).chain((operator) => {
    const value = VALUES[field];
    const operand = operator === 'in' || operator === 'notin' ? fc.array(value, { maxLength: 3 }) : value;
    return operand.map((wanted) => ({ field, operator, wanted }));
  }),
);

/** Says the same in another way: a place in an order instead of comparisons, a missing value first. */
function oracle(actual: unknown, operator: FilterOperator, wanted: unknown): boolean {
  const missing = actual === null;
  if (operator === 'in') return (wanted as unknown[]).some((one) => oracle(actual, 'eq', one));
  if (operator === 'notin') return (wanted as unknown[]).every((one) => oracle(actual, 'neq', one));
  if (missing) return operator === 'neq';
  const ordered = [actual, wanted] as (string | number)[];
  const place = actual === wanted ? 0 : ordered.toSorted(byCodeUnits)[0] === actual ? -1 : 1;
  return { eq: [0], neq: [-1, 1], lt: [-1], lte: [-1, 0], gt: [1], gte: [0, 1] }[operator].includes(place);
}

function byCodeUnits(a: string | number | boolean, b: string | number | boolean): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(utf16(a), utf16(b));
  return Number(a) - Number(b);
}

function utf16(value: string): Buffer {
  return Buffer.from(value, 'utf16le').swap16();
}

describe('select_filters', () => {
  test('finds what a look at each condition by itself finds', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(row, fc.array(condition, { maxLength: 4 }), (template, conditions) => {
        const filters: Record<string, Record<string, unknown>> = {};
        for (const { field, operator, wanted } of conditions) {
          filters[field] = { ...filters[field], [operator]: wanted };
          seen.add(`${field} ${operator}`);
        }
        const parsed = templateFilters.parse(filters);
        const expected = Object.entries(filters).every(([field, byOperator]) =>
          Object.entries(byOperator).every(([operator, wanted]) =>
            oracle(template[field as keyof TemplateFilters], operator as FilterOperator, wanted),
          ),
        );
        expect(matchesFilters(template, parsed)).toBe(expected);
      }),
      { numRuns: 3_000 },
    );
    expect(seen.size).toBe(16 * 8);
  });

  test('knows all sixteen fields, each of which a template has', () => {
    expect(Object.keys(templateFilters.shape).sort()).toEqual(FIELDS.toSorted());
    const [template] = buildState({}, {}, 0).templates.values();
    if (!template) throw new Error('the seed has no template');
    expect(Object.keys(templateView(template))).toEqual(expect.arrayContaining(FIELDS));
  });

  test('has a rule for a template that was never used', () => {
    const never = { recent_create_date: null };
    const found = (filter: object) =>
      matchesFilters(never, templateFilters.parse({ recent_create_date: filter }));
    expect([{ eq: 0 }, { lt: 9 }, { lte: 9 }, { gt: 0 }, { gte: 0 }, { in: [0] }].map(found)).toEqual(
      Array.from({ length: 6 }, () => false),
    );
    expect([{ neq: 0 }, { notin: [0] }].map(found)).toEqual([true, true]);
  });
});
