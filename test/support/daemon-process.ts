/** The daemon as a process of its own, configured as a user would. */
import { startPilotlight, type Program } from './process.ts';

export interface DaemonProcess extends Program {
  readonly url: string;
  readonly adminUrl: string;
}

/** `env` without the PILOTLIGHT_ prefix, `processEnv` as it is. Resolves once it has started. */
export async function startDaemonProcess(
  env: Record<string, string>,
  processEnv: Record<string, string> = {},
): Promise<DaemonProcess> {
  const all = { LISTEN: '127.0.0.1:0', ADMIN_LISTEN: '127.0.0.1:0', ...env };
  const program = startPilotlight(['run'], {
    ...processEnv,
    ...Object.fromEntries(Object.entries(all).map(([name, value]) => [`PILOTLIGHT_${name}`, value])),
  });
  const [, message = ''] = await program.seen(/^(\{.*"pilotlight started"\})$/m);
  return Object.assign(program, JSON.parse(message) as Pick<DaemonProcess, 'url' | 'adminUrl'>);
}
