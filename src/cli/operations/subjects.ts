/**
 * Names in place of ids: `deployment stop square`. What a name means is asked of the service, and one that fits several
 * things is refused with the list of them. Where something is changed, what may mean another thing is refused too.
 */
import type { CallOptions, Client } from '../../client/client.ts';
import { ApiError, ResponseError } from '../../client/errors.ts';
import { operationOf, type OperationId } from '../../contract/operations.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { legibleLine } from '../text/legible.ts';
import { flagsOf } from './flags.ts';
import type { Input } from './input.ts';
import { askForNamed, resourceOf, RESOURCES, type Named, type Resource } from './named-rows.ts';
import { commandOf } from './names.ts';

/** A name that does not say which; the message lists what there is. */
export interface Unresolved {
  readonly problem: string;
  readonly exit: number;
}

/** What changes nothing although it is no GET; all others do, those that are new among them. */
const HARMLESS: ReadonlySet<OperationId> = new Set<OperationId>([
  'deployments.heartbeat',
  'endpointGroups.logs',
  'endpointGroups.workers',
  'workergroups.logs',
  'workergroups.workers',
]);

/** Names that the service takes itself, of things of which there may be several: only the first would be meant. */
const SENT_NAMES: readonly {
  readonly id: OperationId;
  readonly field: string;
  readonly of: Resource;
  /** What to give instead. */
  readonly instead: string;
}[] = [
  { id: 'deployments.deleteByName', field: 'name', of: RESOURCES.deployments, instead: 'its tag' },
  ...(['workergroups.create', 'workergroups.update'] as const).map((id) => ({
    id,
    field: 'endpoint_name',
    of: RESOURCES.endpointGroups,
    instead: '--endpoint-id',
  })),
  {
    id: 'endpointGroups.route',
    field: 'endpoint',
    of: RESOURCES.endpointGroups,
    instead: 'each a name of its own (endpoint-group update)',
  },
];

/** The field of an operation's input that takes a name in place of an id; undefined where none does. */
export function namedField(id: OperationId): string | undefined {
  if (!resourceOf(id)) return undefined;
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
  const ask = (name: string, of: Resource): Promise<Named> => askForNamed(name, of, client, options);
  const resource = resourceOf(id);
  const field = namedField(id);
  const subject = field === undefined ? undefined : input[field];
  let resolved = input;
  if (resource && field !== undefined && typeof subject === 'string') {
    const found = await ask(subject, resource);
    const problem = problemOf(subject, found, resource, changes(id));
    if (problem) return problem;
    resolved = { ...input, [field]: found.rows[0]?.['id'] };
  } else if (resource && typeof subject === 'number' && changes(id)) {
    const found = await ask(String(subject), resource).catch(unlessAnswered);
    const others = found?.rows.filter((row) => row['id'] !== subject) ?? [];
    if (others.length > 0) return bothIdAndName(subject, others, resource);
  }
  return (await problemOfSentName(id, input, ask)) ?? resolved;
}

export function isUnresolved(result: Input | Unresolved): result is Unresolved {
  return 'problem' in result && 'exit' in result;
}

function changes(id: OperationId): boolean {
  return operationOf(id).method !== 'GET' && !HARMLESS.has(id);
}

/** A service that has no such list, or does not let this key see it, does not forbid what is said without names. */
function unlessAnswered(error: unknown): undefined {
  if (error instanceof ApiError || error instanceof ResponseError) return;
  throw error;
}

function problemOf(
  name: string,
  { rows, unread }: Named,
  { list, namesOf, instead }: Resource,
  toChange: boolean,
): Unresolved | undefined {
  const command = commandOf(list);
  if (rows.length > 1) return severalFit(name, rows, namesOf, instead);
  if (unread > 0 && toChange) return mayBeUnread(name, unread, command, instead);
  if (rows.length === 1) return undefined;
  const what = command.replace(/ .*/, '');
  return {
    problem: `no ${what} is called ${legibleLine(name)} (${command} lists them)`,
    exit: EXIT.failed,
  };
}

async function problemOfSentName(
  id: OperationId,
  input: Input,
  ask: (name: string, of: Resource) => Promise<Named>,
): Promise<Unresolved | undefined> {
  const sent = SENT_NAMES.find((one) => one.id === id);
  const name = sent && input[sent.field];
  if (!sent || typeof name !== 'string') return undefined;
  // With its tag a deployment is the only one.
  if (id === 'deployments.deleteByName' && input['tag'] !== undefined) return undefined;
  // An endpoint's own key may ask for a route, and see no list.
  const found = await (id === 'endpointGroups.route'
    ? ask(name, sent.of).catch(unlessAnswered)
    : ask(name, sent.of));
  if (!found) return undefined;
  const { rows, unread } = found;
  if (rows.length > 1) return severalFit(name, rows, sent.of.namesOf, sent.instead);
  return unread > 0 ? mayBeUnread(name, unread, commandOf(sent.of.list), sent.instead) : undefined;
}

function severalFit(
  name: string,
  rows: Named['rows'],
  namesOf: Resource['namesOf'],
  instead: string,
): Unresolved {
  const problem = `${legibleLine(name)} fits ${rows.length} of them; give ${instead}:`;
  return { problem: [problem, ...linesOf(rows, namesOf)].join('\n'), exit: EXIT.usage };
}

function mayBeUnread(name: string, unread: number, command: string, instead: string): Unresolved {
  return {
    problem: `${legibleLine(name)} may fit more than one: ${command} has ${unread} that cannot be read; give ${instead}`,
    exit: EXIT.usage,
  };
}

function bothIdAndName(id: number, rows: Named['rows'], { namesOf }: Resource): Unresolved {
  return {
    problem: [
      `${id} may be an id, and is a name; give the id of the one that is called so, or another name of the other:`,
      ...linesOf(rows, namesOf),
    ].join('\n'),
    exit: EXIT.usage,
  };
}

function linesOf(rows: Named['rows'], namesOf: Resource['namesOf']): string[] {
  return rows.map((row) => `  ${String(row['id'])}  ${legibleLine(namesOf(row).at(-1) ?? '')}`);
}
