/** Operation id ↔ words of the command line: `templates.search` is `template search`. */
import { OPERATION_IDS, type OperationId } from '../../contract/operations.ts';

/** What people say where the contract has another word. */
const SAID: Readonly<Record<string, string>> = { workergroups: 'worker-groups', get: 'show' };

/**
 * The resources of the table in its order, each with its operations. Aliases are plurals, and the contract's own words
 * where people say it otherwise.
 */
export function commandGroups() {
  const resources = Map.groupBy(OPERATION_IDS, (id) => id.split('.')[0] ?? '');
  return [...resources].map(([resource, ids]) => {
    const words = new Set([wordsOf(resource), kebab(resource)]);
    const [name = '', ...aliases] = new Set([...words].flatMap((word) => [singular(word), word]));
    return { name, aliases, operations: ids.map(operationWords) };
  });
}

function operationWords(id: OperationId) {
  const method = id.split('.')[1] ?? '';
  const [name, alias] = [wordsOf(method), kebab(method)];
  return { id, name, alias: alias === name ? undefined : alias };
}

/** `template search` */
export function commandOf(id: OperationId): string {
  const [resource = '', method = ''] = id.split('.');
  return `${singular(wordsOf(resource))} ${wordsOf(method)}`;
}

/** `endpointGroups` and `machine_ids` → `endpoint-groups`, `machine-ids` */
export function kebab(name: string): string {
  return name.replaceAll('_', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function wordsOf(name: string): string {
  return SAID[name] ?? kebab(name);
}

function singular(words: string): string {
  return words.replace(/(?<!s)s$/, '');
}
