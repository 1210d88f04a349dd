/**
 * What the service says of a configuration: whether it takes the key, what time it has, whether the key may read what
 * the configured features need, and whether there are the deployments. Read-only, one question after the other.
 */
import { createClient, type CallOptions, type Client } from '../../client/client.ts';
import { ApiError, CallError } from '../../client/errors.ts';
import { adviceOf } from '../../client/flows/explain.ts';
import { isUnknownOperation, listInstances } from '../../client/flows/instances.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { PREFIX, type Settings } from '../../config/options.ts';
import { DEFAULT_TAG } from '../../contract/operations/serverless/deployment.ts';
import { labelOf, Selection } from '../../heartbeat/discovery/wanted.ts';
import { exitCodeOf } from '../exit-code.ts';
import { legibleLine } from '../text/legible.ts';

export interface Finding {
  /** `unknown`: the service has no such operation. */
  readonly verdict: 'fine' | 'wrong' | 'unknown';
  /** `key`, `clock`, `deployment 42`, or the variable of a feature. */
  readonly about: string;
  readonly says: string;
}

export interface Asked {
  readonly findings: readonly Finding[];
  readonly exit: number;
}

/** In seconds; the alert ClockSkew has the same bound. */
const MOST_SKEW = 30;

/** Never rejects for what the service says. */
export async function askService(settings: Settings, signal: AbortSignal): Promise<Asked> {
  const { apiKey, baseUrl, serverlessUrl } = settings;
  let serverDate: string | undefined;
  await using client = createClient({
    apiKey,
    baseUrl,
    ...(serverlessUrl !== undefined && { serverlessUrl }),
    observe: { exchange: (event) => (serverDate = event.serverDate ?? serverDate) },
  });
  const inquiry = new Inquiry();
  const options = { signal };
  const user = await inquiry.ask('key', `accepted by ${baseUrl}`, () => client.users.current({}, options));
  if (serverDate !== undefined) inquiry.compareClocks(Date.now(), Date.parse(serverDate));
  if (user) {
    for (const { about, question } of readsOf(settings, client, options))
      await inquiry.ask(about, 'the key may read it', question);
    await findDeployments(settings, client, options, inquiry);
  }
  return inquiry;
}

class Inquiry implements Asked {
  readonly findings: Finding[] = [];
  exit: number = EXIT.ok;

  add(verdict: Finding['verdict'], about: string, says: string, exit: number = EXIT.failed): void {
    this.findings.push({ verdict, about, says: legibleLine(says) });
    if (verdict === 'wrong') this.exit = Math.max(this.exit, exit);
  }

  /** The answer; undefined if there is none, which is a finding. */
  async ask<T>(about: string, fine: string, question: () => Promise<T>): Promise<T | undefined> {
    try {
      const answer = await question();
      this.add('fine', about, fine);
      return answer;
    } catch (error) {
      if (!(error instanceof CallError) || error.code === 'aborted') throw error;
      const advice = error instanceof ApiError ? adviceOf(error) : '';
      const says = [error.message, advice].filter(Boolean).join('; ');
      this.add(isUnknownOperation(error) ? 'unknown' : 'wrong', about, says, exitCodeOf(error));
      return undefined;
    }
  }

  /** Both in Unix ms; the service tells whole seconds. */
  compareClocks(ours: number, theirs: number): void {
    if (Number.isNaN(theirs)) return this.add('unknown', 'clock', 'the service tells no time');
    const skew = Math.round((ours - theirs - 500) / 1000);
    const says = `${Math.abs(skew)} s ${skew < 0 ? 'behind' : 'ahead of'} the service`;
    this.add(Math.abs(skew) <= MOST_SKEW ? 'fine' : 'wrong', 'clock', says);
  }
}

interface Read {
  readonly about: string;
  readonly question: () => Promise<unknown>;
}

/** A question for each configured feature. */
function readsOf(settings: Settings, client: Client, options: CallOptions): Read[] {
  const { workerGroups, endpoints, endpointLogs, machines } = settings;
  const reads: (Pick<Read, 'question'> & { variable: string; isOn: boolean })[] = [
    {
      variable: 'WORKER_GROUPS',
      isOn: workerGroups.length > 0,
      question: () => client.workergroups.list({}, options),
    },
    {
      variable: 'ENDPOINTS',
      isOn: endpoints.length + endpointLogs.length > 0,
      question: () => client.endpointGroups.list({}, options),
    },
    {
      variable: 'MACHINES',
      isOn: machines.length > 0 && settings.maintenanceSchedule !== 'off',
      question: () => client.machines.maintenances({ machine_ids: [...machines] }, options),
    },
    {
      variable: 'INSTANCES_SCHEDULE',
      isOn: settings.instancesSchedule !== 'off',
      question: () => listInstances(client, { ids: [], ...options }),
    },
    {
      variable: 'ACCOUNT_SCHEDULE',
      isOn: settings.accountSchedule !== 'off',
      question: () => client.tfa.status({}, options),
    },
  ];
  return reads
    .filter(({ isOn }) => isOn)
    .map(({ variable, question }) => ({ about: PREFIX + variable, question }));
}

async function findDeployments(
  { deployments }: Settings,
  client: Client,
  options: CallOptions,
  inquiry: Inquiry,
): Promise<void> {
  if (deployments.length === 0) return;
  const list = await inquiry.ask('deployments', 'the key may list them', () =>
    client.deployments.list({}, options),
  );
  for (const wanted of list ? deployments : []) {
    const selection = new Selection([wanted]);
    const found = (list?.deployments ?? []).filter(({ id, name, tag }) =>
      selection.has({ id, name: name ?? undefined, tag: tag || DEFAULT_TAG }),
    );
    const says = found.length > 0 ? `id ${found.map(({ id }) => id).join(', ')}` : 'not found';
    inquiry.add(found.length > 0 ? 'fine' : 'wrong', `deployment ${labelOf(wanted)}`, says);
  }
}
