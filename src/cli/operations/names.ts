/** Operation ids as words of the command line, and names in place of ids: `deployment stop square`. */
import { OPERATION_IDS, operationOf, wordsOfId, type OperationId } from '../../contract/operations.ts';
import type { CallOptions, Client } from '../../client/client.ts';
import { listInstances } from '../../client/flows/lists.ts';
import { DEFAULT_TAG } from '../../contract/operations/serverless/serverless.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { CommandError, InputError } from '../console.ts';
import { legibleLine } from '../text.ts';
import { flagsOf, kebab } from './flags.ts';
import type { Input } from './input.ts';

/** What people say where the contract has another word. */
const SAID: Readonly<Record<string, string>> = { workergroups: 'worker-groups', get: 'show' };

/** Aliases are plurals, and the contract's own words if people use others. */
export function commandGroups() {
  const resources = Map.groupBy(OPERATION_IDS, (id) => wordsOfId(id)[0]);
  return [...resources].map(([resource, ids]) => {
    const words = new Set([wordsOf(resource), kebab(resource)]);
    const [name, ...aliases] = new Set([...words].flatMap((word) => [singular(word), word]));
    const operations = ids.map((id) => {
      const [, method] = wordsOfId(id);
      const [own, alias] = [wordsOf(method), kebab(method)];
      return { id, name: own, alias: alias === own ? undefined : alias };
    });
    return { name: String(name), aliases, operations };
  });
}

/** `template search` */
export function commandOf(id: OperationId): string {
  const [resource, method] = wordsOfId(id);
  return `${singular(wordsOf(resource))} ${wordsOf(method)}`;
}

function wordsOf(name: string): string {
  return SAID[name] ?? kebab(name);
}

function singular(words: string): string {
  return words.replace(/(?<!s)s$/, '');
}

type Row = Readonly<Record<string, unknown>>;

interface Resource {
  readonly list: OperationId;
  readonly rows: string;
  /** The most exact one last. */
  readonly namesOf: (row: Row) => readonly string[];
  readonly instead: string;
}

const RESOURCES: Readonly<Record<string, Resource>> = {
  deployments: {
    list: 'deployments.list',
    rows: 'deployments',
    namesOf: deploymentNames,
    instead: 'an id, or a name with its tag',
  },
  endpointGroups: listed('endpointGroups.list', 'results', 'endpoint_name'),
  workergroups: listed('workergroups.list', 'results', 'endpoint_name'),
  instances: listed('instances.list', 'instances', 'label'),
  apiKeys: listed('apiKeys.list', 'apikeys', 'name'),
};

/** Undefined: none takes a name in place of an id. */
export function namedField(id: OperationId): string | undefined {
  if (!resourceOf(id)) return undefined;
  const field = flagsOf(operationOf(id)).find(({ subject }) => subject)?.field;
  return field === 'id' || field === 'workergroup_id' ? field : undefined;
}

/** Ids for names. @throws CommandError for a name of nothing or of several; as the listing */
export async function resolveNames(id: OperationId, input: Input, client: Client, options: CallOptions) {
  const resource = resourceOf(id);
  const field = namedField(id);
  const name = field === undefined ? undefined : input[field];
  if (!resource || field === undefined || typeof name !== 'string') return input;
  const { list, rows } = resource;
  const answer =
    list === 'instances.list'
      ? { instances: await listInstances(client, options) }
      : await client.call(list, {}, options);
  const all = (answer as Readonly<Record<string, readonly Row[]>>)[rows] ?? [];
  const found = all.filter((row) => resource.namesOf(row).includes(name));
  const [row] = found;
  if (!row || found.length > 1) throw unresolved(name, found, resource);
  return { ...input, [field]: row['id'] };
}

function resourceOf(id: OperationId): Resource | undefined {
  return RESOURCES[wordsOfId(id)[0]];
}

function unresolved(name: string, rows: readonly Row[], { list, namesOf, instead }: Resource): CommandError {
  const shown = legibleLine(name);
  const command = commandOf(list);
  if (rows.length === 0) {
    const problem = `no ${command.replace(/ .*/, '')} is called ${shown} (${command} lists them)`;
    return new CommandError(problem, EXIT.failed);
  }
  const lines = rows.map((row) => `  ${String(row['id'])}  ${legibleLine(String(namesOf(row).at(-1)))}`);
  return new InputError([`${shown} fits ${rows.length} of them; give ${instead}:`, ...lines].join('\n'));
}

/** As for heartbeats, an empty tag is the default one. */
function deploymentNames({ name, tag }: Row): string[] {
  const given = typeof tag === 'string' && tag !== '' ? tag : DEFAULT_TAG;
  return typeof name === 'string' ? [name, `${name}/${given}`] : [];
}

function listed(list: OperationId, rows: string, field: string): Resource {
  const namesOf = ({ [field]: name }: Row): string[] =>
    typeof name === 'string' && name !== '' ? [name] : [];
  return { list, rows, namesOf, instead: 'an id' };
}
