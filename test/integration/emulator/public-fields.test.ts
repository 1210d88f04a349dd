/** Every field that the public page names of a row is in it, and every answer says that it succeeded. */
import { describe, expect, test } from 'vitest';
import { publicForEach } from '../../support/public-client.ts';

const service = publicForEach();

const DEPLOYMENT = `
  id name image file_hash current_version_id created_at updated_at tag endpoint_id endpoint_state
  worker_count s3_key env storage search_params last_healthy_version_id ttl last_client_heartbeat`;
const PARAMETERS = `
  endpoint_name min_load min_cold_load target_util cold_mult cold_workers max_workers max_queue_time
  target_queue_time inactivity_timeout`;
const ENDPOINT = `
  id api_key user_id created_at endpoint_state auto_delete_in_seconds auto_delete_due_24h
  ${PARAMETERS}`;
const WORKER_GROUP = `
  id endpoint_id endpoint_name template_hash template_id search_query launch_args gpu_ram test_workers
  min_load target_util cold_mult api_key created_at user_id`;
const WORKER = `
  id status cur_load new_load cur_load_rolling_avg cur_perf perf measured_perf dlperf reliability
  reqs_working disk_usage loaded_at started_at gpu_name url created_at`;

function wordsOf(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** What the request answers with the fields of its rows at a place in the answer. */
type Row = readonly [method: string, path: string, body: object | undefined, at: string, fields: string];

const ROWS: readonly Row[] = [
  ['GET', '/api/v0/deployments', undefined, 'deployments', DEPLOYMENT],
  ['GET', '/api/v0/deployment/42/versions/', undefined, 'versions', 'id image file_hash created_at'],
  ['GET', '/api/v0/endptjobs/', undefined, 'results', ENDPOINT],
  ['GET', '/api/v0/workergroups/', undefined, 'results', WORKER_GROUP],
  ['GET', '/api/v0/autojobs', undefined, 'results', WORKER_GROUP],
  ['POST', '/get_workergroup_workers/', { id: 7 }, 'workers', WORKER],
  ['POST', '/get_autogroup_logs/', { id: 7 }, '.', 'info0 info1 trace debug'],
  ['POST', '/get_workergroup_logs/', { id: 7 }, '.', 'info0 info1 trace debug'],
  ['POST', '/update_workers/', { workergroup_id: 7 }, '.', 'workers_to_update'],
  ['POST', '/update_workers/', { workergroup_id: 7, cancel_update: true }, '.', 'cancelled'],
  ['GET', '/api/v0/instances/', undefined, '.', 'instances_found'],
  ['GET', '/api/v1/instances/', undefined, '.', 'total_instances label_counts next_token'],
];

describe('rows', () => {
  test.each(ROWS)('%s %s %j: %s', async (method, path, body, at, fields) => {
    const answer = await service.send(method, path, body);
    expect(answer.status).toBe(200);
    if (!Array.isArray(answer.body)) expect(answer.body).toMatchObject({ success: true });
    const found: unknown = at === '' || at === '.' ? answer.body : answer.body[at];
    const rows = Array.isArray(found) ? (found as object[]) : [found as object];
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(Object.keys(row)).toEqual(expect.arrayContaining(wordsOf(fields)));
  });
});
