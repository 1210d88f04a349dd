/** What doctor makes of a running daemon, without asking the service. */
import { expect, test } from 'vitest';
import { examine } from '../../../src/cli/doctor.ts';
import { deploymentStatus } from '../../../src/daemon/status/deployment.ts';
import { emptyStats } from '../../../src/heartbeat/view/snapshot.ts';
import { EMPTY_STATUS } from '../../support/empty-status.ts';
import { settingsOf } from '../../support/settings.ts';

test('a deployment that was replaced needs no heartbeats', async () => {
  const { failures, attempts, lapses, timeline } = emptyStats();
  const counts = { failures, attempts, lapses, timeline };
  const last = { ...counts, deploymentId: 42, state: 'replaced', intervalMs: 1_000 } as const;
  const next = { ...last, deploymentId: 43, state: 'healthy', intervalMs: 4_000, nextBeatAt: 1 } as const;
  const { lines } = await examine({
    settings: settingsOf(),
    // It leaves nothing of the rate limit.
    daemon: {
      ...EMPTY_STATUS,
      rate_limit: { ...EMPTY_STATUS.rate_limit, paused_seconds: 1 },
      deployments: [deploymentStatus(last), deploymentStatus(next)],
    },
    deployment: undefined,
    signal: new AbortController().signal,
    sleep: () => Promise.resolve(),
    announce() {},
  });
  const says = expect.stringContaining('1 heartbeat of this key needs one request in 4 s');
  expect(lines).toContainEqual({ verdict: 'fine', about: 'heartbeats', says });
});
