/** The four merge rules of §2.3 between a template and a request. */
import { envMapOf, parseEnvFlags, printRegistryLogin } from './text/env-flags.ts';
import type { InstanceRequest } from './operations/instances/instances.ts';
import { TEMPLATE_DEFAULTS, type TemplateFields } from './operations/templates.ts';

type MergeSource = 'template' | 'request' | 'both';

interface MergedField<Value> {
  readonly value: Value;
  readonly from: MergeSource;
}

/** The values of an instance. `image` includes the tag. */
export interface LaunchValues extends Omit<Required<InstanceRequest>, 'template_hash_id' | 'env'> {
  readonly env: Record<string, string>;
}

/** Fields that neither side sets are absent. `image_login` holds a secret. */
export type MergedLaunch = { readonly [Field in keyof LaunchValues]?: MergedField<LaunchValues[Field]> };

export type LaunchTemplate = { readonly [Field in keyof TemplateFields]?: TemplateFields[Field] | undefined };

/**
 * What a launch would use (§2.3): each value with its origin. The request wins.
 * @throws FlagError if the template's `env` is not in container-flag format
 */
export function mergeLaunch(template: LaunchTemplate | undefined, request: InstanceRequest): MergedLaunch {
  const stored: Partial<LaunchValues> = template ? launchValuesOf(template) : {};
  const { template_hash_id: _, env, ...rest } = request;
  const asked: Partial<LaunchValues> = given({
    ...rest,
    ...(env && {
      env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
    }),
  });
  // Either form of the image's arguments replaces the template's.
  if (asked.args !== undefined) delete stored.args_str;

  const merged: Record<string, MergedField<unknown>> = {};
  for (const [field, value] of Object.entries(stored)) merged[field] = { value, from: 'template' };
  // Rules 1 and 4: `stored` has no volume_info.
  for (const [field, value] of Object.entries(asked)) merged[field] = { value, from: 'request' };
  for (const field of ['env', 'extra_filters'] as const) {
    if (stored[field] && asked[field]) {
      merged[field] = {
        value: { ...stored[field], ...asked[field] },
        from: mapSource(stored[field], asked[field]),
      };
    }
  }
  return merged;
}

export function mergedValues(merged: MergedLaunch): Partial<LaunchValues> {
  return Object.fromEntries(Object.entries(merged).map(([field, { value }]) => [field, value]));
}

function launchValuesOf(template: LaunchTemplate): Partial<LaunchValues> {
  const {
    docker_login_user: user = '',
    docker_login_pass: token = '',
    docker_login_repo: registry = '',
  } = template;
  return given({
    image: template.image && imageReference(template.image, template.tag ?? TEMPLATE_DEFAULTS.tag),
    disk: template.recommended_disk_space ?? TEMPLATE_DEFAULTS.recommended_disk_space,
    runtype: template.runtype ?? TEMPLATE_DEFAULTS.runtype,
    env: template.env === undefined ? undefined : envMapOf(parseEnvFlags(template.env)),
    extra_filters: template.extra_filters,
    onstart: template.onstart,
    args_str: template.args_str,
    use_jupyter_lab: template.use_jupyter_lab,
    jupyter_dir: template.jupyter_dir,
    use_ssh: template.use_ssh,
    ssh_direct: template.ssh_direct,
    jup_direct: template.jup_direct,
    image_login: user === '' && token === '' ? undefined : printRegistryLogin({ registry, user, token }),
  });
}

/** The image's own tag or digest wins. */
function imageReference(image: string, tag: string): string {
  return /[:@][^/]*$/.test(image) ? image : `${image}:${tag}`;
}

function mapSource(stored: object, asked: object): MergeSource {
  if (Object.keys(asked).length === 0) return 'template';
  return Object.keys(stored).every((key) => Object.hasOwn(asked, key)) ? 'request' : 'both';
}

function given<Fields extends object>(fields: Fields): { [F in keyof Fields]?: NonNullable<Fields[F]> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(entries) as { [F in keyof Fields]?: NonNullable<Fields[F]> };
}
