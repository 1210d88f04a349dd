/** Prints an answer, of which nothing that is shown once is lost to a full disk. */
import { operationOf, type OperationId } from '../../../contract/operations.ts';
import { shownOncePaths } from '../../../wire/reading.ts';
import type { Console } from '../../console.ts';
import { legibleJson } from '../../../contract/text/controls.ts';
import { columnsOf } from './columns.ts';
import { renderAnswer } from './render.ts';

/** Resolves with whether standard output has taken it, as far as that matters. */
export function printAnswer(
  id: OperationId,
  answer: unknown,
  { json = false }: { readonly json?: boolean },
  console: Console,
): Promise<boolean> {
  return printResult(id, `${textOf(id, answer, json, console)}\n`, console);
}

/** What is shown once goes to standard error where standard output does not take it. */
export async function printResult(id: OperationId, text: string, console: Console): Promise<boolean> {
  if (shownOncePaths(operationOf(id).response).length > 0) return await console.outOrErr(text);
  console.out(text);
  return true;
}

function textOf(id: OperationId, answer: unknown, json: boolean, { columns }: Console): string {
  if (json) return legibleJson(JSON.stringify(answer, null, columns === undefined ? undefined : 2));
  return renderAnswer(answer, operationOf(id).response, { columns, shown: columnsOf(id) }).join('\n');
}
