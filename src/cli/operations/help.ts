/** What the help of an operation's command says beside its flags. Pure. */
import { assumedParts } from '../../contract/assumptions.ts';
import { operationOf, type OperationId } from '../../contract/operations.ts';
import { sentencesOf } from '../../contract/rules.ts';
import { quoteWord } from '../../contract/text/shell-words.ts';
import { exitCodesText } from '../../config/exit-codes.ts';
import { CONNECTION } from '../text/examples.ts';
import { flagsOf } from './flags.ts';
import { commandOf } from './names.ts';

/** `example`: in place of that of the operation. */
export function helpAfter(id: OperationId, example = exampleOf(id)): string {
  const operation = operationOf(id);
  const { method, path, base, source, origin, permission, errors, replacedBy } = operation;
  const assumed = assumedParts(operation);
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
    `Example: ${example}`,
    CONNECTION,
    exitCodesText(),
  ].join('\n');
}

/** The documented example as a command line. */
export function exampleOf(id: OperationId): string {
  const operation = operationOf(id);
  const input = operation.example.input;
  const words = flagsOf(operation).flatMap(({ path, field, name, subject, kind, fallback }) => {
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
