/**
 * Names in place of ids: `deployment stop square`. What a name means is asked of the service, and one that fits several
 * things is refused with the list of them.
 */
import type { CallOptions, Client } from '../../client/client.ts';
import { isRecord } from '../../contract/is-record.ts';
import { DEFAULT_TAG } from '../../contract/operations/serverless/deployment.ts';
import { operationOf, type OperationId } from '../../contract/operations.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { displayed } from '../logs/format.ts';
import { flagsOf } from './flags.ts';
import type { Input } from './input.ts';
import { commandOf } from './names.ts';

type Row = Readonly<Record<string, unknown>>;

interface Resource {
  readonly list: OperationId;
  /** Field of the list's answer that holds the rows. */
  readonly rows: string;
  /** All names of one, the most exact one last. */
  readonly namesOf: (row: Row) => readonly string[];
}

const RESOURCES: Readonly<Record<string, Resource>> = {
  deployments: { list: 'deployments.list', rows: 'deployments', namesOf: deploymentNames },
  endpointGroups: { list: 'endpointGroups.list', rows: 'results', namesOf: namesIn('endpoint_name') },
  workergroups: { list: 'workergroups.list', rows: 'results', namesOf: namesIn('endpoint_name') },
  instances: { list: 'instances.list', rows: 'instances', namesOf: namesIn('label') },
  apiKeys: { list: 'apiKeys.list', rows: 'apikeys', namesOf: namesIn('name') },
};

/** A name that does not say which; the message lists what there is. */
export interface Unresolved {
  readonly problem: string;
  readonly exit: number;
}

/** The field of an operation's input that takes a name in place of an id; undefined where none does. */
export function namedField(id: OperationId): string | undefined {
  const [resource = ''] = id.split('.');
  if (!Object.hasOwn(RESOURCES, resource)) return undefined;
  const subject = flagsOf(operationOf(id)).find(({ subject: isSubject }) => isSubject);
  const field = subject?.path[0];
  return field === 'id' || field === 'workergroup_id' ? field : undefined;
}

/** The input with ids for names. @throws CallError what the listing throws */
export async function resolveNames(
  id: OperationId,
  input: Input,
  client: Client,
  options: CallOptions,
): Promise<Input | Unresolved> {
  const [resource = ''] = id.split('.');
  const known = RESOURCES[resource];
  const field = namedField(id);
  const name = field === undefined ? undefined : input[field];
  if (known && field !== undefined && typeof name === 'string') {
    const found = await rowsNamed(name, known, client, options);
    const [only] = found.length === 1 ? found : [];
    return only ? { ...input, [field]: only['id'] } : unresolved(resource, name, found, known);
  }
  if (known && id === 'deployments.deleteByName' && input['tag'] === undefined) {
    const all = await rowsNamed(String(input['name']), known, client, options);
    if (all.length > 1) return unresolved(resource, String(input['name']), all, known);
  }
  return input;
}

export function isUnresolved(result: Input | Unresolved): result is Unresolved {
  return 'problem' in result && 'exit' in result;
}

async function rowsNamed(
  name: string,
  { list, rows, namesOf }: Resource,
  client: Client,
  options: CallOptions,
): Promise<Row[]> {
  const answer = await client.call(list, {}, options);
  const all = isRecord(answer) ? answer[rows] : [];
  return Array.isArray(all) ? all.filter((row) => isRecord(row) && namesOf(row).includes(name)) : [];
}

function unresolved(
  resource: string,
  name: string,
  found: readonly Row[],
  { list, namesOf }: Resource,
): Unresolved {
  const what = commandOf(list).replace(/ .*/, '');
  if (found.length === 0) {
    return {
      problem: `no ${what} is called ${displayed(name)} (${commandOf(list)} lists them)`,
      exit: EXIT.failed,
    };
  }
  const several = found.map((row) => `  ${String(row['id'])}  ${displayed(namesOf(row).at(-1) ?? '')}`);
  const how = resource === 'deployments' ? 'an id, or a name with its tag' : 'an id';
  return {
    problem: [`${displayed(name)} fits ${found.length} of them; give ${how}:`, ...several].join('\n'),
    exit: EXIT.usage,
  };
}

function deploymentNames({ name, tag }: Row): string[] {
  return typeof name === 'string' ? [name, `${name}/${typeof tag === 'string' ? tag : DEFAULT_TAG}`] : [];
}

function namesIn(field: string): Resource['namesOf'] {
  return ({ [field]: name }) => (typeof name === 'string' && name !== '' ? [name] : []);
}
