/** Mistakes in code that only runs in a child process: hand-made.ts makes each and runs its tests. */

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

const LEASE = ['integration/daemon/lease.test.ts'];
const HEALTH = ['integration/cli/healthcheck.test.ts'];

export const MISTAKES: readonly Mistake[] = [
  {
    what: 'the HTML 404 of a proxy counts as gone',
    file: 'heartbeat/driver/describe-failure.ts',
    from: "if (status === 404) return 'unreadable';",
    to: "if (status === 404) return 'not-found';",
    tests: ['integration/client/heartbeat-outcomes.test.ts'],
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
    what: 'secrets are shown in a dry run',
    file: 'cli/operations/preview.ts',
    from: "fields[field] !== '') fields[field] = show(field.toUpperCase());",
    to: "fields[field] !== '') continue;",
    tests: ['integration/cli/every-operation.test.ts'],
  },
  {
    what: "commands to the terminal in a table's cells",
    file: 'cli/operations/answer/render.ts',
    from: "return displayed(text.replaceAll(/\\s+/g, ' '));",
    to: "return text.replaceAll(/\\s+/g, ' ');",
    tests: ['integration/cli/foreign-text.test.ts'],
  },
  {
    what: 'a daemon that hangs is healthy as long as it hangs',
    file: 'cli/commands/healthcheck.ts',
    from: '{ signal: AbortSignal.timeout(TIMEOUT_MS) }',
    to: '{}',
    tests: HEALTH,
  },
  {
    what: 'a daemon that answers 503 is healthy',
    file: 'cli/commands/healthcheck.ts',
    from: 'if (response.ok) return;',
    to: 'return;',
    tests: HEALTH,
  },
  {
    what: 'the window that is open is asked for again',
    file: 'client/flows/tfa.ts',
    from: '  if (status.new_method_authorized) return;\n',
    to: '',
    tests: ['integration/client/tfa.test.ts'],
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
