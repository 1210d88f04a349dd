/** The daemon as a process of its own, configured as a user would. */
import { readFileSync } from 'node:fs';
import type { Status } from '../../src/daemon/status/schema.ts';
import { startPilotlight, type Program } from './process.ts';
import { prefixed } from './settings.ts';

export interface DaemonProcess extends Program {
  readonly url: string;
  readonly adminUrl: string;
  status(): Promise<Status>;
  metrics(): Promise<string>;
  /** Process id of the daemon that runs at present; the program's own is the heart's. */
  daemonPid(): number;
  /** To heart and daemon, as a terminal signals a foreground job. */
  signalBoth(signal: NodeJS.Signals): void;
}

const STARTED = /pilotlight started (\{.*\})$|^(\{.*"pilotlight started"\})$/m;

/** `env` without the PILOTLIGHT_ prefix, `processEnv` as it is. Resolves once it has started. */
export async function startDaemonProcess(
  env: Record<string, string>,
  processEnv: Record<string, string> = {},
  cwd?: string,
): Promise<DaemonProcess> {
  const all = { LISTEN: '127.0.0.1:0', ADMIN_LISTEN: '127.0.0.1:0', ...env };
  const program = startPilotlight(['run'], { ...processEnv, ...prefixed(all) }, cwd);
  const [, asText, asJson = asText ?? ''] = await program.seen(STARTED);
  const { url, adminUrl } = JSON.parse(asJson) as Pick<DaemonProcess, 'url' | 'adminUrl'>;
  return Object.assign(program, {
    url,
    adminUrl,
    status: async () => (await (await fetch(`${url}/api/status`)).json()) as Status,
    metrics: async () => (await fetch(`${url}/metrics`)).text(),
    daemonPid: () => daemonPid(program),
    signalBoth(signal: NodeJS.Signals) {
      process.kill(daemonPid(program), signal);
      program.child.kill(signal);
    },
  });
}

/** @throws While there is none, between the end of one daemon and the start of the next. */
export function daemonPid({ child: { pid } }: Program): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const daemon = children.find((id) => id !== '' && commandLine(id).includes('daemon'));
  if (daemon === undefined) throw new Error('no daemon runs at present');
  return Number(daemon);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
