/**
 * The schema of the Helm chart's values, by which Helm refuses a misspelt or wrong one before anything is installed.
 * The settings in it come from the option table, so that the chart has no second list of them.
 */
import { OPTIONS, OPTION_KEYS, PREFIX, type Option } from '../../src/config/options.ts';
import { appAddress, listenAddress, serviceUrl, url } from '../../src/config/addresses.ts';
import {
  amount,
  byteSize,
  count,
  idList,
  type ValueType,
  deploymentList,
  groupList,
} from '../../src/config/value-types.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The chart says these itself, for they are places in the container; and no file of settings is in there. */
export const SET_BY_CHART: ReadonlySet<string> = new Set(['STATE_DIR', 'ADMIN_LISTEN', 'ENV_FILE']);

const boolean = { type: 'boolean' };
const string = { type: 'string' };
const text = { type: 'string', minLength: 1 };
const object = { type: 'object' };
const objects = { type: 'array', items: object };
const strings = { type: 'object', additionalProperties: string };

const matching = (pattern: string): Schema => ({ type: 'string', pattern });
const oneOf = (...values: readonly unknown[]): Schema => ({ enum: values });
const strict = (properties: Readonly<Record<string, Schema>>, more: Schema = {}): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...more,
});

/** A number above 0, without a look ahead, which Helm's regular expressions do not have. */
const POSITIVE = String.raw`(\d*[1-9]\d*(\.\d+)?|\d+\.\d*[1-9]\d*)`;

/** What an entry of a list looks like. Other lists have entries that are just words. */
const ENTRIES: ReadonlyMap<ValueType<unknown>, string> = new Map<ValueType<unknown>, string>([
  [deploymentList, String.raw`(\d+|name:[^,@/]+(/[^,@/]+)?)(@${POSITIVE}(ms|s|m|h))?`],
  [groupList, String.raw`(\d+|endpoint:[^,]+|[aA][lL][lL])`],
  [idList, String.raw`\d+`],
]);

function listSchema(entry: string): Schema {
  const number = { type: 'integer', minimum: 0 };
  const one = matching(String.raw`^\s*${entry}\s*$`);
  const several = matching(String.raw`^\s*${entry}(\s*,\s*${entry})*\s*,?\s*$`);
  return { anyOf: [number, several, { type: 'array', items: { anyOf: [number, one] } }] };
}

/** What a value may be in YAML. It need not be all that the type asks for, but must allow what the type does. */
function valueSchema(type: ValueType<unknown>): Schema {
  const words = type.name.split(', ');
  if (words.length > 1 && words.every((word) => type.parse(word).value === word)) return oneOf(...words);
  if (type.parse('true').value === true)
    return oneOf(true, false, 'true', 'false', 'True', 'False', '1', '0', 'yes', 'no', 'on', 'off');
  if (type === url || type === serviceUrl) return matching(String.raw`^https?://\S+$`);
  if (type === appAddress) return matching(String.raw`^(https?|tcp)://\S+$`);
  if (type === listenAddress) return matching(String.raw`:\d{1,5}$`);
  if (type === byteSize) return matching(`^${POSITIVE}([KMG]i?B|B)?$`);
  if (type === count)
    return { anyOf: [{ type: 'integer', minimum: 1 }, matching(String.raw`^\d*[1-9]\d*$`)] };
  if (type === amount) return { anyOf: [{ type: 'number', exclusiveMinimum: 0 }, matching(`^${POSITIVE}$`)] };
  if (type.name.startsWith('duration'))
    return matching(`^(${type.name.endsWith('auto') ? 'auto|' : ''}${POSITIVE}(ms|s|m|h))$`);
  if (type.name.startsWith('JSON '))
    return { type: ['string', type.name.endsWith('array') ? 'array' : 'object'] };
  const entry = ENTRIES.get(type);
  if (entry !== undefined) return listSchema(entry);
  if (Array.isArray(type.parse('').value)) return { anyOf: [{ type: ['string', 'integer'] }, list] };
  return text;
}

const list = { type: 'array', items: { type: ['string', 'integer'], minLength: 1 } };

const options: readonly Option[] = OPTION_KEYS.map((key) => OPTIONS[key]);
const settings = options.filter(({ variable, secret }) => !secret && !SET_BY_CHART.has(variable));
const secrets = options.filter(({ secret }) => secret);

function named(
  all: readonly Option[],
  schemaOf: (option: Option) => Schema,
): Readonly<Record<string, Schema>> {
  return Object.fromEntries(
    all.map((option) => [PREFIX + option.variable, { description: option.doc, ...schemaOf(option) }]),
  );
}

const required = (all: readonly Option[]): Schema => ({
  required: all.filter((option) => option.required).map(({ variable }) => PREFIX + variable),
});

export function valuesJsonSchema(): Schema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the Helm chart of Pilotlight',
    ...strict({
      // Of Helm, and of the `condition` of a chart that depends on this one.
      global: object,
      enabled: boolean,
      mode: oneOf('standalone', 'sidecar'),
      settings: strict(
        named(settings, ({ type }) => valueSchema(type)),
        required(settings),
      ),
      secret: strict({
        name: text,
        keys: strict(
          named(secrets, () => matching(String.raw`^[-._a-zA-Z0-9]+$`)),
          required(secrets),
        ),
      }),
      proxy: strict({
        HTTPS_PROXY: matching(String.raw`^(https?|socks5)://\S+$`),
        HTTP_PROXY: matching(String.raw`^(https?|socks5)://\S+$`),
        NO_PROXY: text,
      }),
      certificates: strict({ configMap: string, key: text }),
      image: strict({
        repository: text,
        tag: string,
        digest: matching('^(sha256:[0-9a-f]{64})?$'),
        pullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
      }),
      imagePullSecrets: { type: 'array', items: strict({ name: text }) },
      resources: strict({ requests: object, limits: object }),
      persistence: strict({
        enabled: boolean,
        existingClaim: string,
        storageClassName: string,
        size: text,
      }),
      replicas: { type: 'integer', minimum: 0 },
      terminationGracePeriodSeconds: { type: 'integer', minimum: 1 },
      networkPolicy: strict({
        enabled: { type: ['boolean', 'null'] },
        metricsFrom: { ...objects, minItems: 1 },
        redisPort: { type: 'integer', minimum: 1, maximum: 65_535 },
        egress: objects,
      }),
      podMonitor: strict({
        enabled: boolean,
        interval: matching(String.raw`^\d+(ms|s|m|h)$`),
        labels: strings,
      }),
      prometheusRule: strict({ enabled: boolean, labels: strings, runbooks: text }),
      fullnameOverride: matching('^([a-z0-9]([-a-z0-9]{0,51}[a-z0-9])?)?$'),
      podLabels: strings,
      podAnnotations: strings,
      priorityClassName: string,
      nodeSelector: strings,
      tolerations: objects,
      affinity: object,
    }),
    required: ['settings', 'secret'],
  };
}
