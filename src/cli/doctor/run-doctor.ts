/** `doctor`: begins as `check` does, examines the service, prints and writes what it found. */
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { buildInfo } from '../../build-info.ts';
import { hasOwnKey, type Connection } from '../../config/command-settings.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { loadConfig } from '../../config/load.ts';
import { inCheck, isError } from '../../config/problem.ts';
import type { Environment } from '../../config/values.ts';
import { ASSUMPTION_IDS } from '../../contract/assumptions.ts';
import { statusSchema } from '../../daemon/status/schema.ts';
import { printProblems } from '../check/run-check.ts';
import { CommandError, InputError } from '../command-error.ts';
import { printError, printJson, printLine, type Console } from '../console.ts';
import { DaemonAway, fetchStatus, type DaemonAddress } from '../fleet/daemon.ts';
import { usableConnection, type ProfileFlag } from '../logins.ts';
import { examine, type DaemonView, type Examination, type Line } from './examine.ts';

export interface DoctorFlags extends ProfileFlag {
  readonly deployment?: number;
  readonly json?: boolean;
  readonly report?: string;
}

export async function runDoctor(daemonAt: DaemonAddress, flags: DoctorFlags, console: Console) {
  const connection = usableConnection(console, flags);
  if (!connection) return EXIT.usage;
  const environment = withConnection(console.environment ?? process.env, connection);
  const { settings, problems: found } = loadConfig(environment);
  const problems = found.map(inCheck);
  if (!flags.json) printProblems(problems, console);
  if (!settings || problems.some(isError)) {
    printError(console, 'The service was not asked: the errors come first.');
    if (flags.json) printJson(console, { problems, findings: [] });
    return EXIT.usage;
  }
  const examination = await console.interruptible(async (signal) =>
    examine({
      settings,
      daemon: await daemonOfService(daemonAt, settings.baseUrl, console, signal),
      deployment: flags.deployment,
      signal,
      sleep: (ms) => delay(ms, undefined, { signal }),
      announce: (sentence) => printError(console, sentence),
    }),
  );
  const { lines, exit } = examination;
  if (flags.json) printJson(console, { problems, findings: lines });
  else for (const line of lines) printLine(console, `${WORDS[line.verdict]}: ${line.about}: ${line.says}`);
  if (flags.report !== undefined) writeReport(flags.report, examination);
  return exit;
}

const WORDS: Readonly<Record<Line['verdict'], string>> = {
  fine: 'fine',
  differs: 'works, but differs',
  broken: 'broken',
  unknown: 'could not ask',
};

/** With what login has stored, if the environment has no key. */
function withConnection(environment: Environment, { apiKey, baseUrl, serverlessUrl }: Connection) {
  if (hasOwnKey(environment)) return environment;
  return {
    ...environment,
    PILOTLIGHT_API_KEY: apiKey,
    PILOTLIGHT_BASE_URL: baseUrl,
    PILOTLIGHT_BASE_URL_FILE: undefined,
    PILOTLIGHT_SERVERLESS_URL: serverlessUrl,
    PILOTLIGHT_SERVERLESS_URL_FILE: undefined,
  };
}

const viewSchema = statusSchema.pick({ service: true, rate_limit: true, deployments: true });

/** Undefined: none runs here, or it is of another service or an older version. */
async function daemonOfService(
  address: DaemonAddress,
  baseUrl: string,
  console: Console,
  signal: AbortSignal,
): Promise<DaemonView | undefined> {
  try {
    const view = await fetchStatus(address, viewSchema, signal);
    return view.service.base_url === baseUrl ? view : undefined;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    if (!(error instanceof DaemonAway)) printError(console, error.message);
    return undefined;
  }
}

const IDS: ReadonlySet<string> = new Set(ASSUMPTION_IDS);

/** Words of our own tables and numbers alone: no key, name, id, address or log line. @throws InputError */
function writeReport(path: string, { lines, exit, exchanges }: Examination): void {
  const { version, revision } = buildInfo();
  const report = {
    pilotlight: version,
    revision,
    node: process.versions.node,
    exit,
    checks: lines
      .filter(({ about }) => !IDS.has(about))
      .map(({ about, verdict }) => ({ about: about.split(' ', 1)[0], verdict })),
    traits: lines.flatMap(({ about, value, verdict, says }) =>
      IDS.has(about) ? [{ trait: about, value: value ?? null, verdict, says }] : [],
    ),
    exchanges,
  };
  try {
    writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`);
  } catch (cause) {
    throw new InputError(`${path}: ${(cause as Error).message}`, { cause });
  }
}
