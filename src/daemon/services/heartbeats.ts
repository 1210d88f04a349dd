/**
 * The heartbeats as the daemon sees them: what the heart, another process, has reported. Nothing here asks the heart
 * and waits: a page or a scrape shows what was reported last.
 */
import { figuresOf, type DeploymentFigures } from '../../heartbeat/view/figures.ts';
import type { ExchangeEvent } from '../../heartbeat/heart.ts';
import type { DaemonMessage, HeartMessage, Link, Report } from '../../heartbeat/process/link/link.ts';
import type { DeploymentView, FailureLabel } from '../../heartbeat/view/view.ts';
import type { DeploymentStatus } from '../status/status.ts';

export interface ReloadResult {
  readonly ok: boolean;
  /** What was wrong, or what only a restart can change; in words. */
  readonly problems: readonly string[];
}

export interface HeartbeatsOptions {
  readonly heart: Link<DaemonMessage, HeartMessage>;
  readonly onLag: (ms: number) => void;
  /** `at`: when it ended, Unix ms. */
  readonly onExchange: (event: ExchangeEvent & { readonly at: number }) => void;
  /** The heart's own log messages. */
  readonly onMessages: (level: string, count: number) => void;
  /** So many events were not reported, because this process did not take them for too long. */
  readonly onMissed: (events: number) => void;
  /** The heart was told to reload, and asks the daemon to lead. */
  readonly onReload: () => void;
  /** The whole program ends; so many ms are left. */
  readonly onStop: (withinMs: number) => void;
}

export interface Heartbeats {
  status(): DeploymentStatus[];
  /** The numbers of the status, for the metrics. */
  figures(): DeploymentFigures;
  /** Ms by which the heart's scheduler is late with its next look at the clock, as far as is known here. */
  lateMs(): number;
  /** Connections that the heart has open. */
  openConnections(): number;
  /** Asks the heart to load its part of the configuration. */
  reload(): Promise<ReloadResult>;
  /** Tells the heart that nothing is to be loaded. */
  refuseReload(): void;
}

/** The heart reports at least this often, and its scheduler looks at the clock so often, ms. */
const REPORT_EVERY_MS = 1_000;
/** How long the heart's answer to a reload is waited for, ms. */
const RELOAD_PATIENCE_MS = 5_000;

export function receiveHeartbeats(options: HeartbeatsOptions): Heartbeats {
  const { heart } = options;
  const views = new Map<number, DeploymentView>();
  let heardAt = Date.now();
  let lastTickAt = heardAt;
  let openConnections = 0;
  let reloaded: (result: ReloadResult) => void = () => {};

  heart.listen((message) => {
    switch (message.type) {
      case 'report':
        take(message.report);
        return heart.send({ type: 'taken', number: message.report.number });
      case 'reload':
        return options.onReload();
      case 'reloaded':
        return reloaded(message);
      case 'stop':
        return options.onStop(message.withinMs);
    }
  });

  function take(report: Report): void {
    heardAt = Date.now();
    ({ lastTickAt, openConnections } = report);
    for (const id of report.removed) views.delete(id);
    for (const view of report.changed) views.set(view.deploymentId, view);
    for (const event of report.exchanges) options.onExchange(event);
    for (const ms of report.lags) options.onLag(ms);
    for (const [level, count] of Object.entries(report.messages)) options.onMessages(level, count);
    if (report.missed > 0) options.onMissed(report.missed);
  }

  return {
    status: () => Array.from(views.values(), (view) => deploymentStatus(view)),
    figures: () => figuresOf([...views.values()]),
    lateMs() {
      const silent = Date.now() - heardAt - 2 * REPORT_EVERY_MS;
      const wedged = views.size === 0 ? 0 : heardAt - lastTickAt - REPORT_EVERY_MS;
      return Math.max(0, silent, wedged);
    },
    openConnections: () => openConnections,
    refuseReload: () => heart.send({ type: 'reload-refused' }),
    async reload() {
      const { promise, resolve } = Promise.withResolvers<ReloadResult>();
      reloaded = resolve;
      const silent: ReloadResult = { ok: false, problems: ['the heart did not answer in time'] };
      const timer = setTimeout(() => resolve(silent), RELOAD_PATIENCE_MS);
      heart.send({ type: 'reload' });
      const { ok, problems } = await promise;
      clearTimeout(timer);
      return { ok, problems };
    },
  };
}

function deploymentStatus(view: DeploymentView): DeploymentStatus {
  const failed = view.timeline.findLast(({ result }) => !SETTLED_WELL.has(result));
  return {
    deployment_id: view.deploymentId,
    state: view.state,
    ttl_seconds: secondsOrNull(view.ttlMs),
    interval_seconds: view.intervalMs / 1000,
    heartbeats: view.attempts,
    failures: view.failures,
    last_success_at: secondsOrNull(view.lastSuccessAt),
    next_heartbeat_at: secondsOrNull(view.nextBeatAt),
    expires_at: secondsOrNull(view.expiresAt),
    min_margin_ratio: view.minMarginRatio ?? null,
    lapses: view.lapses,
    last_error: failed ? FAILURE_WORDS[failed.result as FailureLabel | 'overdue'] : null,
    last_error_at: failed ? failed.at / 1000 : null,
    beats: view.timeline.map(({ at, result, tookMs }) => ({
      at: at / 1000,
      outcome: result,
      latency_ms: tookMs ?? null,
    })),
  };
}

/** What a person reads where a metric has a label. */
const FAILURE_WORDS: Readonly<Record<FailureLabel | 'overdue', string>> = {
  dns: 'the name of the service does not resolve',
  connect: 'no connection: refused or unreachable, or the proxy would not make it',
  tls: 'the TLS handshake failed: is the CA of the service in NODE_EXTRA_CA_CERTS?',
  reset: 'the connection broke',
  timeout: 'no answer in time',
  overdue: 'no answer yet',
  'server-error': 'the service failed (5xx)',
  status: 'an unexpected status',
  unreadable: 'the answer was no answer to a heartbeat: a proxy in between?',
  rejected: 'the service said success: false',
  'wrong-deployment': 'the answer was for another deployment',
  unknown: 'an unclassified error: see the log at level debug',
  throttled: 'the service asks to come more slowly (429)',
  unauthorized: 'the service refuses the API key',
  'stale-key': 'an older API key was refused',
  'not-found': 'the service does not know this deployment',
};

const SETTLED_WELL: ReadonlySet<string> = new Set(['accepted', 'waiting', 'superseded']);

function secondsOrNull(ms: number | undefined): number | null {
  return ms === undefined ? null : ms / 1000;
}
