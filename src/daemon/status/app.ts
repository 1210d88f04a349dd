/** The app that the deployments are kept alive for, as the status has it, from what the heart reports of it. */
import { withoutCredentials } from '../../config/types/addresses.ts';
import type { AppSnapshot } from '../../heartbeat/view/snapshot.ts';
import type { AppStatus } from './schema.ts';

export function appStatus(address: string | undefined, app: AppSnapshot | undefined): AppStatus | null {
  if (address === undefined || app === undefined) return null;
  return {
    address: withoutCredentials(address),
    state: app.state,
    unwell_seconds: app.unwellMs / 1000,
    grace_seconds: app.graceMs / 1000,
    last_error: app.why ?? null,
  };
}
