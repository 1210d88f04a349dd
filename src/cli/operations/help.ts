/** What the help of an operation's command says beside its flags. Pure. */
import { assumptionsOf } from '../../contract/assumed.ts';
import type { Operation } from '../../contract/define.ts';
import { operationOf, OPERATION_IDS, type OperationId } from '../../contract/operations.ts';
import { sentencesOf } from '../../contract/rules.ts';
import { quoteWord } from '../../contract/text/shell-words.ts';
import { exitCodesText } from '../../config/exit-codes.ts';
import { flagsOf } from './flags.ts';
import { commandOf } from './names.ts';

const CONNECTION = 'Uses PILOTLIGHT_API_KEY, PILOTLIGHT_BASE_URL and PILOTLIGHT_SERVERLESS_URL.';

/** `example`: in place of that of the operation. */
export function helpAfter(operation: Operation, example?: string): string {
  const { method, path, base, source, origin, permission, errors, replacedBy } = operation;
  const id = OPERATION_IDS.find((each) => operationOf(each) === operation);
  const assumed = assumptionsOf(operation);
  const where = base === 'serverless' ? ' at the serverless address' : '';
  return [
    '',
    `Request: ${method} ${path}${where}`,
    `Source: ${source}${origin === 'interface' ? ' of the interface document' : ''}`,
    ...(replacedBy === undefined ? [] : [`Deprecated: use ${commandOf(replacedBy as OperationId)}.`]),
    ...sentencesOf(operation),
    ...(permission === undefined ? [] : [`A scoped key needs the permission ${permission}.`]),
    ...(errors.length === 0 ? [] : [`Errors: ${errors.join(', ')}`]),
    ...(assumed.length === 0 ? [] : [`Assumed, since the interface does not say: ${assumed.join(', ')}`]),
    ...(id === undefined ? [] : [`Example: ${example ?? exampleOf(id)}`]),
    '',
    CONNECTION,
    exitCodesText(),
  ].join('\n');
}

/** Its name and what it cannot do without: `template create --name <text> --image <text>`. */
export function usageOf(id: OperationId): string {
  const needed = flagsOf(operationOf(id)).filter(
    ({ required, fallback }) => required && fallback === undefined,
  );
  const words = needed.map(({ name, subject, takes }) => (subject ? `<${name}>` : `--${name} <${takes}>`));
  return [commandOf(id), ...words].join(' ');
}

/** The documented example as a command line. */
export function exampleOf(id: OperationId): string {
  const operation = operationOf(id);
  const input = operation.example.input;
  const words = flagsOf(operation).flatMap(({ path: [field = ''], path, name, subject, kind, fallback }) => {
    const value = input[field];
    if (path.length > 1 || value === undefined || value === fallback) return [];
    if (kind === 'boolean') return [value === true ? `--${name}` : `--no-${name}`];
    const text = quoteWord(textOf(value));
    return subject ? [text] : [`--${name}`, text];
  });
  return ['pilotlight', commandOf(id), ...words].join(' ');
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((item) => typeof item === 'number')) return value.join(',');
  return JSON.stringify(value);
}
