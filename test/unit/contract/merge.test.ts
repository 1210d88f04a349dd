import * as fc from '../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import { envMapOf, parseEnvFlags, printEnvFlags } from '../../../src/contract/text/env-flags.ts';
import type { InstanceRequest } from '../../../src/contract/operations/instances/instances.ts';
import { mergedValues, mergeLaunch, type LaunchTemplate } from '../../../src/contract/merge.ts';

/** Few names, so that template and request meet. */
const name = fc.constantFrom('A', 'B', 'C', 'D');
const value = fc.constantFrom('', '1', 'two words', "it's");
const envOf = fc.dictionary(name, value);
const filters = fc.dictionary(
  fc.constantFrom('gpu_ram', 'num_gpus', 'dph_total'),
  fc.dictionary(fc.constantFrom('eq', 'gte', 'lte'), fc.integer({ min: 0, max: 9 }), { minKeys: 1 }),
);
const text = fc.constantFrom('', 'x', 'y');
const volume = { create_new: false, volume_id: 4, mount_path: '/data' };

const both = {
  onstart: text,
  args_str: text,
  use_ssh: fc.boolean(),
  ssh_direct: fc.boolean(),
  jup_direct: fc.boolean(),
  use_jupyter_lab: fc.boolean(),
  extra_filters: filters,
  volume_info: fc.constant(volume),
};

const template: fc.Arbitrary<LaunchTemplate> = fc.record(
  {
    ...both,
    image: fc.constantFrom('a/one', 'b/two:v2'),
    tag: fc.constantFrom('latest', 'v1'),
    env: envOf.map((env) =>
      printEnvFlags(Object.entries(env).map(([key, item]) => ({ kind: 'variable', name: key, value: item }))),
    ),
    runtype: fc.constantFrom('ssh' as const, 'jupyter' as const, 'args' as const),
    jupyter_dir: fc.constantFrom(null, '/work'),
    recommended_disk_space: fc.constantFrom(8, 40),
  },
  { requiredKeys: [] },
);

const request: fc.Arbitrary<InstanceRequest> = fc.record(
  {
    ...both,
    image: fc.constantFrom('c/three', 'd/four:v4'),
    env: envOf,
    disk: fc.constantFrom(1, 99),
    runtype: fc.constantFrom('ssh', 'ssh_direc ssh_proxy'),
    label: text,
    jupyter_dir: fc.constant('/other'),
    image_login: fc.constant('-u bob -p token docker.io'),
  },
  { requiredKeys: [] },
);

const SCALARS = [
  'image',
  'disk',
  'runtype',
  'onstart',
  'args_str',
  'use_ssh',
  'ssh_direct',
  'jup_direct',
  'jupyter_dir',
  'use_jupyter_lab',
  'image_login',
  'label',
] as const;

/** Checks a property over templates and requests, whatever is set in them. */
function holds(check: (stored: LaunchTemplate, asked: InstanceRequest) => void): void {
  fc.assert(fc.property(template, request, check), { numRuns: 500 });
}

describe('the rules of the interface document, §2.3', () => {
  test('1: a scalar of the request overrides the template; otherwise the template has its way', () => {
    holds((stored, asked) => {
      const merged = mergeLaunch(stored, asked);
      const alone = mergeLaunch(stored, {});
      for (const field of SCALARS) {
        if (asked[field] === undefined) expect(merged[field]).toEqual(alone[field]);
        else expect(merged[field]).toEqual({ value: asked[field], from: 'request' });
      }
    });
  });

  test('2: env entries of both are there, and on a conflict the request wins', () => {
    holds((stored, asked) => {
      const ofTemplate = stored.env === undefined ? undefined : envMapOf(parseEnvFlags(stored.env));
      const merged = mergeLaunch(stored, asked).env;
      expect(merged === undefined).toBe(!ofTemplate && !asked.env);
      const names = new Set([...Object.keys(ofTemplate ?? {}), ...Object.keys(asked.env ?? {})]);
      expect(new Set(Object.keys(merged?.value ?? {}))).toEqual(names);
      for (const key of names) expect(merged?.value[key]).toBe(asked.env?.[key] ?? ofTemplate?.[key]);
    });
  });

  test('3: extra_filters are merged by key, each taken whole, and the request wins', () => {
    holds((stored, asked) => {
      const merged = mergeLaunch(stored, asked).extra_filters?.value ?? {};
      const [ofTemplate, ofRequest] = [stored.extra_filters ?? {}, asked.extra_filters ?? {}];
      const names = new Set([...Object.keys(ofTemplate), ...Object.keys(ofRequest)]);
      expect(new Set(Object.keys(merged))).toEqual(names);
      for (const [key, filter] of Object.entries(merged)) {
        expect(filter).toEqual(Object.hasOwn(ofRequest, key) ? ofRequest[key] : ofTemplate[key]);
      }
    });
  });

  test('4: a volume comes from the request or not at all', () => {
    holds((stored, asked) => {
      const merged = mergeLaunch({ ...stored, volume_info: { ...volume, volume_id: 99 } }, asked);
      expect(merged.volume_info).toEqual(asked.volume_info && { value: volume, from: 'request' });
    });
  });
});

test('a map says `both` only where both are still to be seen in it', () => {
  const env = (stored: string | undefined, asked: Record<string, string>) =>
    mergeLaunch(stored === undefined ? {} : { env: stored }, { env: asked }).env?.from;
  expect(env('-e A=1', { B: '2' })).toBe('both');
  expect(env('-e A=1 -e B=1', { B: '2' })).toBe('both');
  expect(env('-e A=1', { A: '2' })).toBe('request');
  expect(env('-e A=1', {})).toBe('template');
  expect(env('', { A: '2' })).toBe('request');
  expect(env(undefined, { A: '2' })).toBe('request');
});

test('a template fills in its defaults and its tag, and its registry login as a request writes it', () => {
  const stored = {
    image: 'registry.example.com:5000/team/app',
    docker_login_repo: 'registry.example.com:5000',
    docker_login_user: 'bob',
    docker_login_pass: "it's",
  };
  expect(mergedValues(mergeLaunch(stored, { env: { PORT: 8000, DEBUG: true } }))).toEqual({
    image: 'registry.example.com:5000/team/app:latest',
    disk: 8,
    runtype: 'args',
    image_login: String.raw`-u bob -p 'it'\''s' registry.example.com:5000`,
    env: { PORT: '8000', DEBUG: 'true' },
  });
  expect(mergeLaunch({ image: 'a@sha256:00', tag: 'v1' }, {}).image?.value).toBe('a@sha256:00');
  expect(mergeLaunch({ image: 'a', tag: 'v1' }, { image: 'b' }).image?.value).toBe('b');
});

test('a login may lack its user or its token, but not both', () => {
  const login = (stored: LaunchTemplate) => mergeLaunch(stored, {}).image_login?.value;
  const docker_login_repo = 'r.example.com';
  expect(login({ docker_login_repo })).toBeUndefined();
  expect(login({ docker_login_repo, docker_login_user: 'bob' })).toBe("-u bob -p '' r.example.com");
  expect(login({ docker_login_pass: 't' })).toBe("-u '' -p t");
});

test("the request's arguments replace the template's, in whichever of the two forms", () => {
  const merged = mergedValues(mergeLaunch({ args_str: '--old' }, { args: ['--new'] }));
  expect([merged.args, merged.args_str]).toEqual([['--new'], undefined]);
});

test('without a template everything comes from the request', () => {
  const merged = mergeLaunch(undefined, { image: 'a', disk: 20, template_hash_id: 'h' });
  expect(merged).toEqual({ image: { value: 'a', from: 'request' }, disk: { value: 20, from: 'request' } });
});

test('flags that cannot be read are refused with their position', () => {
  const merge = () => mergeLaunch({ env: '-e A=1 -v /a:/b' }, {});
  expect(merge).toThrow('at character 8: -e, -p or -h belongs here');
});
