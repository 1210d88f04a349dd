/** What there is of a name: the lists of the service that tell names, and how their rows are called. */
import type { CallOptions, Client } from '../../client/client.ts';
import { isRecord } from '../../contract/is-record.ts';
import { DEFAULT_TAG } from '../../contract/operations/serverless/deployment.ts';
import type { OperationId } from '../../contract/operations.ts';
import { rowsLeftOut } from '../../wire/reading.ts';

type Row = Readonly<Record<string, unknown>>;

export interface Resource {
  readonly list: OperationId;
  /** Field of the list's answer that holds the rows. */
  readonly rows: string;
  /** All names of one, the most exact one last. */
  readonly namesOf: (row: Row) => readonly string[];
  /** Each has a name: one that seems to have none has one that could not be read. */
  readonly alwaysNamed?: boolean;
  /** What to give where a name does not say which. */
  readonly instead: string;
}

export const RESOURCES = {
  deployments: {
    list: 'deployments.list',
    rows: 'deployments',
    namesOf: deploymentNames,
    alwaysNamed: true,
    instead: 'an id, or a name with its tag',
  },
  endpointGroups: listed('endpointGroups.list', 'results', 'endpoint_name'),
  workergroups: listed('workergroups.list', 'results', 'endpoint_name'),
  instances: listed('instances.list', 'instances', 'label'),
  apiKeys: listed('apiKeys.list', 'apikeys', 'name'),
} as const satisfies Readonly<Record<string, Resource>>;

/** Of what an operation is about; undefined where that has no names. */
export function resourceOf(id: OperationId): Resource | undefined {
  const [resource = ''] = id.split('.');
  return Object.hasOwn(RESOURCES, resource) ? RESOURCES[resource as keyof typeof RESOURCES] : undefined;
}

/** What a list tells of a name. */
export interface Named {
  readonly rows: readonly Row[];
  /** Rows of the list that could not be read: any of them may be called so too. */
  readonly unread: number;
}

/** @throws CallError what the listing throws */
export async function askForNamed(
  name: string,
  { list, rows, namesOf, alwaysNamed = false }: Resource,
  client: Client,
  options: CallOptions,
): Promise<Named> {
  const answer = await client.call(list, {}, options);
  const found: unknown = isRecord(answer) ? answer[rows] : [];
  const all = Array.isArray(found) ? found.filter(isRecord) : [];
  const nameless = alwaysNamed ? all.filter((row) => namesOf(row).length === 0).length : 0;
  return {
    rows: all.filter((row) => namesOf(row).includes(name)),
    unread: rowsLeftOut(answer) + nameless,
  };
}

/** As the heartbeats know them: a tag that is empty is the default one. */
function deploymentNames({ name, tag }: Row): string[] {
  const given = typeof tag === 'string' && tag !== '' ? tag : DEFAULT_TAG;
  return typeof name === 'string' ? [name, `${name}/${given}`] : [];
}

function listed(list: OperationId, rows: string, field: string): Resource {
  const namesOf = ({ [field]: name }: Row): string[] =>
    typeof name === 'string' && name !== '' ? [name] : [];
  return { list, rows, namesOf, instead: 'an id' };
}
