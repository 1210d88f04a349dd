/** Prints an answer, of which nothing that is shown once is lost to a full disk. */
import { operationOf, type OperationId } from '../../../contract/operations.ts';
import { shownOncePaths } from '../../../wire/reading.ts';
import { isRecord } from '../../../contract/is-record.ts';
import { REDACTED } from '../../../contract/text/redaction.ts';
import type { Console } from '../../console.ts';
import { legibleJson } from '../../../contract/text/controls.ts';
import { renderAnswer } from './render.ts';

const WORKER = 'id status cur_load perf measured_perf reqs_working gpu_name loaded_at';
const INSTANCE = 'id label actual_status intended_status machine_id gpu_name num_gpus dph_total image_uuid';

/** Which fields of a long row a person wants to see, in this order; `--json` has them all. */
const COLUMNS: Readonly<Partial<Record<OperationId, string>>> = {
  'deployments.list': 'id name tag endpoint_state worker_count ttl last_client_heartbeat image',
  'deployments.versions': 'id version_label image file_hash file_size created_at',
  'endpointGroups.list':
    'id endpoint_name endpoint_state min_load target_util cold_mult cold_workers max_workers',
  'endpointGroups.workers': WORKER,
  'workergroups.workers': WORKER,
  'instances.list': INSTANCE,
  'instances.page': INSTANCE,
  'offers.search': 'id gpu_name num_gpus gpu_ram dph_total disk_space reliability machine_id',
  'workergroups.list':
    'id endpoint_name endpoint_id template_hash search_query gpu_ram test_workers created_at',
};

/** Undefined: all. */
export function columnsOf(id: OperationId): readonly string[] | undefined {
  return COLUMNS[id]?.split(' ');
}

export interface AnswerOptions {
  readonly json?: boolean;
  readonly showKeys?: boolean;
}

/** Resolves with whether standard output has taken it, as far as that matters. */
export function printAnswer(
  id: OperationId,
  answer: unknown,
  options: AnswerOptions,
  console: Console,
): Promise<boolean> {
  return printResult(id, `${textOf(id, answer, options, console)}\n`, console);
}

/** What is shown once goes to standard error where standard output does not take it. */
export async function printResult(id: OperationId, text: string, console: Console): Promise<boolean> {
  if (shownOncePaths(operationOf(id).response).length > 0) return await console.outOrErr(text);
  console.out(text);
  return true;
}

function textOf(
  id: OperationId,
  answer: unknown,
  { json, showKeys = false }: AnswerOptions,
  { columns }: Console,
): string {
  const shown = showKeys ? answer : withoutKeys(answer);
  if (json) return legibleJson(JSON.stringify(shown, null, columns === undefined ? undefined : 2));
  const layout = { columns, shown: columnsOf(id), showKeys };
  return renderAnswer(shown, operationOf(id).response, layout).join('\n');
}

/** The field of rows of lists that opens an endpoint; a new key is shown once, under another name. */
const KEY = 'api_key';

/** At any depth: a service may have keys where the contract expects none. */
function withoutKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutKeys);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => [
    name,
    name === KEY && typeof field === 'string' ? REDACTED : withoutKeys(field),
  ]);
  return Object.fromEntries(fields) as unknown;
}
