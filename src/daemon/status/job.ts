/** A scheduled job as the status has it. */
import type { JobView } from '../../watch/job.ts';
import type { JobStatus } from './schema.ts';

export function jobStatus({ name, schedule, runs, failures, lastSuccessAt, lastError }: JobView): JobStatus {
  return {
    job: name,
    schedule,
    runs,
    failures,
    last_success_at: lastSuccessAt === undefined ? null : lastSuccessAt / 1000,
    last_error: lastError ?? null,
  };
}
