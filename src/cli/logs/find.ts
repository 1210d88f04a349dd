/** Which log is meant: of a worker group by its id or by the endpoint that it serves, or of an endpoint. */
import type { Client } from '../../client/client.ts';
import { CallError } from '../../client/errors.ts';
import type { LogSource } from '../../logs/source.ts';
import { printError, type Console } from '../console.ts';
import { exitCodeOf } from '../exit-code.ts';
import { isUnresolved, resolveNames } from '../operations/subjects.ts';
import { legibleLine } from '../text/legible.ts';

const ID = /^\d+$/;

/** @returns The exit code if it cannot be found. */
export async function findLog(
  client: Client,
  group: string | undefined,
  endpoint: string | undefined,
  console: Console,
): Promise<LogSource | number> {
  const named = endpoint ?? group ?? '';
  const operation = endpoint === undefined ? 'workergroups.logs' : 'endpointGroups.logs';
  if (ID.test(named)) {
    const id = Number(named);
    return endpoint === undefined ? { kind: 'workergroup', id } : { kind: 'endpoint', id, name: `#${id}` };
  }
  try {
    const found = await resolveNames(operation, { id: named }, client, {});
    if (isUnresolved(found)) {
      printError(console, `error: ${found.problem}`);
      return found.exit;
    }
    const id = Number(found['id']);
    return endpoint === undefined ? { kind: 'workergroup', id } : { kind: 'endpoint', id, name: endpoint };
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    printError(console, `error: ${legibleLine(error.message)}`);
    return exitCodeOf(error);
  }
}
