/** The daemon's own routes, status and metrics on a real listener, with a recorded fleet in the place of the watch. */
import { listen } from '../../src/daemon/http/listener.ts';
import { publicRoutes } from '../../src/daemon/http/routes.ts';
import { createMetrics } from '../../src/daemon/metrics.ts';
import { fleetStatus, type ShownSettings } from '../../src/daemon/status/fleet.ts';
import type { Status } from '../../src/daemon/status/schema.ts';
import type { Fleet } from '../../src/fleet/view.ts';
import type { FleetEvent } from '../../src/fleet/workers/lives.ts';
import { EMPTY_STATUS } from './empty-status.ts';
import { WATCH_ALL } from './recorded-fleet.ts';

export interface FleetListener extends AsyncDisposable {
  readonly url: string;
  readonly errors: readonly unknown[];
  readonly observe: (event: FleetEvent) => void;
}

export async function listenWithFleet(
  fleet: Fleet,
  settings: ShownSettings = WATCH_ALL,
): Promise<FleetListener> {
  const errors: unknown[] = [];
  const status = (): Status => ({
    ...EMPTY_STATUS,
    version: '1.2.3',
    now: Date.now() / 1000,
    started_at: Date.now() / 1000 - 3600,
    service: { ...EMPTY_STATUS.service, base_url: 'https://console.example.com' },
    fleet: fleetStatus(fleet.view(), settings),
  });
  const metrics = createMetrics(status, []);
  const listener = await listen({
    address: { host: '127.0.0.1', port: 0 },
    onError: (error) => errors.push(error),
    routes: publicRoutes({
      status,
      fleet,
      metrics,
      lifecycle: { state: 'running' },
      heartbeats: { lateMs: () => 0 },
      current: { settings: { metricsToken: undefined } },
    }),
  });
  return {
    url: listener.url,
    errors,
    observe: metrics.fleet,
    [Symbol.asyncDispose]: () => listener.close(),
  };
}
