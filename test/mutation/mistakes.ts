/**
 * Mistakes that a tired colleague could make where only glue is: error branches, boundaries, units, clean-up. None of
 * them went by unnoticed again: `node test/mutation/hand-made.ts`, which reads this, makes each and runs its tests.
 */

export interface Mistake {
  readonly what: string;
  /** Below src/. */
  readonly file: string;
  /** Stands there once. */
  readonly from: string;
  readonly to: string;
  /** Below test/: at least one of them fails. */
  readonly tests: readonly string[];
  /** Of these tests only those with the text in their name, where the others take minutes. */
  readonly named?: string;
}

const SPOOL = ['unit/logs/spool'];
const RETRY = ['unit/client/retry.test.ts'];
const METRICS = ['unit/daemon/metrics/metrics.test.ts'];
const LEASE = ['integration/daemon/lease.test.ts'];
const RELOADING = ['unit/daemon/services/reloading.test.ts'];
const HEALTH = ['integration/cli/healthcheck.test.ts'];
const ENGINE = ['unit/heartbeat/engine'];
const VERIFICATION = ['unit/emulator/tfa/verification.test.ts'];

export const MISTAKES: readonly Mistake[] = [
  {
    what: 'a threshold beats Retry-After',
    file: 'client/rate-limiter.ts',
    from: 'retryAfterMs ?? thresholdMs',
    to: 'thresholdMs ?? retryAfterMs',
    tests: ['unit/client/rate-limiter'],
  },
  {
    what: 'acknowledged bytes of the spool are never freed',
    file: 'logs/spool/spool-database.ts',
    from: 'bytes: state.bytes - freed',
    to: 'bytes: state.bytes',
    tests: SPOOL,
  },
  {
    what: 'a spool that was begun anew is begun anew with each record',
    file: 'logs/spool/spool.ts',
    from: '    this.#unreadable = undefined;\n',
    to: '',
    tests: SPOOL,
  },
  {
    what: 'a sink that is no longer configured keeps its place',
    file: 'logs/spool/spool-database.ts',
    from: 'if (!sinks.includes(sink)) this.#sql.removeSink.run(sink);',
    to: '{}',
    tests: SPOOL,
  },
  {
    what: 'the HTML 404 of a proxy counts as gone',
    file: 'heartbeat/driver/describe-failure.ts',
    from: "if (status === 404) return 'unreadable';",
    to: "if (status === 404) return 'not-found';",
    tests: ['integration/client/heartbeat-outcomes.test.ts'],
  },
  {
    what: 'a reload takes no new settings, only new deployments',
    file: 'heartbeat/discovery/watch.ts',
    from: '[this.#wanted, this.#settings] = [next.wanted, next.settings]',
    to: 'this.#wanted = next.wanted',
    tests: ['unit/heartbeat/discovery/watch.test.ts'],
  },
  {
    what: 'a reload of the interval alone is no change',
    file: 'heartbeat/discovery/watch.ts',
    from: "'id', 'ttl', 'interval', ",
    to: "'id', 'ttl', ",
    tests: ['unit/heartbeat/discovery/watch.test.ts'],
  },
  {
    what: 'after a throttle there is no hedging ever again',
    file: 'heartbeat/engine/answers.ts',
    from: '  beat.hedging = true;\n',
    to: '',
    tests: ENGINE,
  },
  {
    what: 'the overflow of reports drops the newest',
    file: 'heartbeat/process/link/reports.ts',
    from: 'return list.slice(CAPACITY / 2);',
    to: 'return list.slice(0, CAPACITY / 2);',
    tests: ['unit/heartbeat/process/link'],
  },
  {
    what: 'an instance that could not be destroyed is reported as destroyed',
    file: 'client/flows/launch.ts',
    from: "else onProgress?.({ step: 'not destroyed'",
    to: "else left.delete(instanceId), onProgress?.({ step: 'not destroyed'",
    tests: ['integration/client/launch-trouble.test.ts'],
  },
  {
    what: 'the lease of another is deleted',
    file: 'daemon/replicas/lease.ts',
    from: "const RELEASE = `\nif redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end",
    to: 'const RELEASE = `',
    tests: LEASE,
  },
  {
    what: 'the lease of another is renewed',
    file: 'daemon/replicas/lease.ts',
    from: "if holder and holder ~= ARGV[1] then return '-1' end\n",
    to: '',
    tests: ['integration/daemon/whole.test.ts'],
    named: 'tells nothing of what it saw',
  },
  {
    what: 'the lease is not given back at the end',
    file: 'daemon/replicas/lease.ts',
    from: '    if (wasHeld) await giveBack();\n',
    to: '',
    tests: LEASE,
  },
  {
    what: 'a holder that is told to stop does not hand over',
    file: 'daemon/replicas/lease.ts',
    from: 'const wasHeld = now() < validUntil;',
    to: 'const wasHeld = false;',
    tests: ['integration/daemon/replicas.test.ts'],
    named: 'hands over at once',
  },
  {
    what: 'no time limit for a receiver that hangs',
    file: 'logs/sinks/otlp-poster.ts',
    from: 'signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])',
    to: 'signal',
    tests: ['integration/logs/otlp.test.ts'],
  },
  {
    what: "another user's challenge is accepted",
    file: 'emulator/tfa/account.ts',
    from: '!challenge || challenge.userId !== user.id',
    to: '!challenge',
    tests: VERIFICATION,
  },
  {
    what: 'a session lasts as many ms as it should last seconds',
    file: 'emulator/tfa/codes.ts',
    from: 'settings.sessionSeconds * 1000',
    to: 'settings.sessionSeconds',
    tests: VERIFICATION,
  },
  {
    what: 'ADMIN_LISTEN is refused on 0.0.0.0 only',
    file: 'config/load.ts',
    from: '!LOOPBACK.has(adminListen.host)',
    to: "adminListen.host === '0.0.0.0'",
    tests: ['unit/config/addresses.test.ts'],
  },
  {
    what: 'secrets are shown in a dry run',
    file: 'cli/operations/preview.ts',
    from: "fields[field] !== '') fields[field] = show(field.toUpperCase());",
    to: "fields[field] !== '') continue;",
    tests: ['integration/cli/every-operation.test.ts'],
  },
  {
    what: 'nested secrets stay in the journal',
    file: 'emulator/journal/journal.ts',
    from: 'SECRET_FIELDS.has(name) ? REDACTED : scrubDeep(item, known)',
    to: 'scrubDeep(item, known)',
    tests: ['unit/emulator/journal'],
  },
  {
    what: "commands to the terminal in a table's cells",
    file: 'cli/operations/answer.ts',
    from: "return displayed(text.replaceAll(/\\s+/g, ' '));",
    to: "return text.replaceAll(/\\s+/g, ' ');",
    tests: ['integration/cli/foreign-text.test.ts'],
  },
  {
    what: 'the duration of a request in ms',
    file: 'daemon/metrics/events.ts',
    from: 'durationMs / 1000',
    to: 'durationMs',
    tests: METRICS,
  },
  {
    what: 'a wait that was asked for in ms',
    file: 'daemon/metrics/events.ts',
    from: 'waitMs / 1000',
    to: 'waitMs',
    tests: METRICS,
  },
  {
    what: 'every wait counts as one that was asked for',
    file: 'daemon/metrics/events.ts',
    from: 'if (throttled) throttleWait',
    to: 'throttleWait',
    tests: METRICS,
  },
  {
    what: 'the lag of heartbeats in ms',
    file: 'daemon/metrics/events.ts',
    from: 'lag.observe(ms / 1000)',
    to: 'lag.observe(ms)',
    tests: METRICS,
  },
  {
    what: 'a failed load of the configuration sets the time of success',
    file: 'daemon/metrics/events.ts',
    from: 'if (successful) time.set',
    to: 'time.set',
    tests: METRICS,
  },
  {
    what: 'a failed run of a job sets the time of success',
    file: 'watch/job.ts',
    from: '      failures += 1;\n',
    to: '      failures += 1;\n      lastSuccessAt = options.now();\n',
    tests: ['unit/watch'],
  },
  {
    what: 'a reload that fails half way is not put back',
    file: 'daemon/services/reloading.ts',
    from: '      await this.#apply(settings, problems, keyFile);\n',
    to: '',
    tests: RELOADING,
  },
  {
    what: 'a reload takes what only a restart can change',
    file: 'daemon/services/reloading.ts',
    from: '{ ...loaded.settings, ...kept }',
    to: '{ ...loaded.settings }',
    tests: RELOADING,
  },
  {
    what: 'an empty variable counts as set',
    file: 'config/values.ts',
    from: "environment[name] === '' ? undefined : ",
    to: '',
    tests: ['unit/config'],
  },
  {
    what: 'a blank variable counts as not set',
    file: 'config/values.ts',
    from: "environment[name] === '' ? undefined : environment[name]?.trim()",
    to: 'environment[name]?.trim() || undefined',
    tests: ['unit/config'],
  },
  {
    what: 'a daemon that hangs is healthy as long as it hangs',
    file: 'cli/commands/daemon.ts',
    from: '{ signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) }',
    to: '{}',
    tests: HEALTH,
  },
  {
    what: 'a daemon that answers 503 is healthy',
    file: 'cli/commands/daemon.ts',
    from: 'if (response.ok) return;',
    to: 'return;',
    tests: HEALTH,
  },
  {
    what: '--cold-start of a check in ms',
    file: 'cli/flag-types.ts',
    from: 'return milliseconds(text) / 1000;',
    to: 'return milliseconds(text);',
    tests: ['unit/cli/check.test.ts'],
  },
  {
    what: 'a repetition before the time that was asked for',
    file: 'client/retry.ts',
    from: 'asked + random() * policy.baseMs',
    to: 'asked - random() * policy.baseMs',
    tests: RETRY,
  },
  {
    what: 'a 500 is not repeated',
    file: 'client/retry.ts',
    from: 'error.status >= 500',
    to: 'error.status > 500',
    tests: RETRY,
  },
  {
    what: 'the window that is open is asked for again',
    file: 'client/flows/tfa.ts',
    from: '  if (status.new_method_authorized) return;\n',
    to: '',
    tests: ['integration/client/tfa.test.ts'],
  },
  {
    what: 'a search tries what the check refuses',
    file: 'scaling/planner/search/search.ts',
    from: 'Math.min(cold_workers, max_workers)',
    to: 'cold_workers',
    tests: ['unit/scaling/planner/search/search.test.ts'],
  },
  {
    what: 'a second signal waits as the first does',
    file: 'heartbeat/process/link/signals.ts',
    from: 'if (once) endProcess(exitCodeOfSignal(signal));',
    to: 'if (once) return;',
    tests: ['integration/daemon/process.test.ts'],
    named: 'a second signal',
  },
  {
    what: 'the first signal ends it at once, as the second does',
    file: 'heartbeat/process/link/signals.ts',
    from: 'if (once) endProcess',
    to: 'endProcess',
    tests: ['integration/daemon/process.test.ts'],
    named: 'with exit code 0',
  },
  {
    what: 'a daemon that drains goes on when its heart has ended',
    file: 'daemon/process/serve.ts',
    from: '  setTimeout(() => endProcess(EXIT.ok), ORPHAN_MS);\n',
    to: '',
    tests: ['integration/daemon/process.test.ts'],
    named: 'a second signal',
  },
];
