/** Asks the service about a configuration, with reads alone: for `check --online` and `doctor`. */
import { createClient, type CallOptions, type Client, type ClientObserver } from '../../client/client.ts';
import { ApiError, CallError, ThrottledError, adviceOf } from '../../client/errors.ts';
import { isUnknownOperation, listInstances } from '../../client/flows/lists.ts';
import { NO_RETRY } from '../../client/retry.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { PREFIX, type Settings } from '../../config/options.ts';
import { DEFAULT_TAG } from '../../contract/operations/serverless/serverless.ts';
import type { OperationId, Output } from '../../contract/operations.ts';
import { labelOf, Selection } from '../../heartbeat/discovery/wanted.ts';
import { exitCodeOf } from '../exit-code.ts';
import { legibleLine } from '../text/legible.ts';

export interface CheckFinding {
  /** `unknown`: the service has no such operation, or has refused it for its rate limit. */
  readonly verdict: 'fine' | 'wrong' | 'unknown';
  /** `key`, `clock`, `deployment 42`, or the variable of a feature. */
  readonly about: string;
  readonly says: string;
}

export interface ServiceFindings {
  readonly findings: readonly CheckFinding[];
  readonly exit: number;
  readonly answers: Answers;
}

export type Answers = { readonly [Id in OperationId]?: Output<Id> };

export interface Question {
  readonly about: string;
  readonly asks: OperationId;
  readonly fine: string;
  readonly input?: Readonly<Record<string, unknown>>;
  /** Default: a call of `asks` with `input`. */
  readonly ask?: (client: Client, options: CallOptions, answers: Answers) => Promise<unknown>;
  readonly isOpen?: (answers: Answers) => boolean;
  /** Only an observer reads its answer: it makes no finding. */
  readonly isQuiet?: boolean;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Resolves when the next question may be sent; false: stop asking. Default: at once. */
  readonly turn?: () => Promise<boolean>;
  /** Sends each question once. A 429 is reported as unknown. */
  readonly isGentle?: boolean;
  readonly onAnswer?: ClientObserver['answer'];
}

/** In seconds; the alert ClockSkew has the same bound. */
const MOST_SKEW = 30;

/** Never rejects for what the service says. */
export async function askService(
  settings: Settings,
  { signal, turn = () => Promise.resolve(true), isGentle = false, onAnswer }: AskOptions,
  questions: readonly Question[] = questionsOf(settings),
): Promise<ServiceFindings> {
  const { apiKey, baseUrl, serverlessUrl } = settings;
  let serverDate: string | undefined;
  await using client = createClient({
    apiKey,
    baseUrl,
    ...(serverlessUrl !== undefined && { serverlessUrl }),
    ...(isGentle && { retry: NO_RETRY }),
    observe: {
      exchange: (event) => (serverDate = event.serverDate ?? serverDate),
      ...(onAnswer && { answer: onAnswer }),
    },
  });
  const inquiry = new Inquiry(isGentle);
  const { answers } = inquiry;
  for (const question of questions) {
    if (question.isOpen?.(answers) === false) continue;
    if (!(await turn())) break;
    const { asks, input = {}, ask = (_, options) => client.call(asks, input, options) } = question;
    const answer = await inquiry.ask(question, () => ask(client, { signal }, answers));
    if (answer !== undefined) Object.assign(answers, { [asks]: answer });
    if (question.about === KEY) {
      if (serverDate !== undefined) inquiry.compareClocks(Date.now(), Date.parse(serverDate));
      if (answer === undefined) break;
    }
  }
  inquiry.findDeployments(settings);
  return inquiry;
}

const KEY = 'key';

class Inquiry implements ServiceFindings {
  readonly findings: CheckFinding[] = [];
  readonly answers: Answers = {};
  exit: number = EXIT.ok;
  readonly #isGentle: boolean;

  constructor(isGentle: boolean) {
    this.#isGentle = isGentle;
  }

  add(verdict: CheckFinding['verdict'], about: string, says: string, exit: number = EXIT.failed): void {
    this.findings.push({ verdict, about, says: legibleLine(says) });
    if (verdict === 'wrong') this.exit = Math.max(this.exit, exit);
  }

  async ask({ about, fine, isQuiet }: Question, ask: () => Promise<unknown>): Promise<unknown> {
    try {
      const answer = await ask();
      if (!isQuiet) this.add('fine', about, fine);
      return answer;
    } catch (error) {
      if (!(error instanceof CallError) || error.code === 'aborted') throw error;
      if (isQuiet && error instanceof ApiError) return undefined;
      const advice = error instanceof ApiError ? adviceOf(error) : '';
      const says = [error.message, advice].filter(Boolean).join('; ');
      const isOpen = isUnknownOperation(error) || (this.#isGentle && error instanceof ThrottledError);
      this.add(isOpen ? 'unknown' : 'wrong', about, says, exitCodeOf(error));
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

  findDeployments({ deployments }: Settings): void {
    const rows = this.answers['deployments.list']?.deployments;
    for (const wanted of rows ? deployments : []) {
      const selection = new Selection([wanted]);
      const found = (rows ?? []).filter(({ id, name, tag }) =>
        selection.has({ id, name: name ?? undefined, tag: tag || DEFAULT_TAG }),
      );
      const says = found.length > 0 ? `id ${found.map(({ id }) => id).join(', ')}` : 'not found';
      this.add(found.length > 0 ? 'fine' : 'wrong', `deployment ${labelOf(wanted)}`, says);
    }
  }
}

export function questionsOf(settings: Settings): Question[] {
  const { workerGroups, endpoints, endpointLogs, machines, deployments } = settings;
  const feature = (isOn: boolean, variable: string, asked: Pick<Question, 'asks' | 'input' | 'ask'>) =>
    isOn ? [{ about: PREFIX + variable, fine: 'the key may read it', ...asked }] : [];
  return [
    { about: KEY, asks: 'users.current', fine: `accepted by ${settings.baseUrl}` },
    ...feature(workerGroups.length > 0, 'WORKER_GROUPS', { asks: 'workergroups.list' }),
    ...feature(endpoints.length + endpointLogs.length > 0, 'ENDPOINTS', { asks: 'endpointGroups.list' }),
    ...feature(machines.length > 0 && settings.maintenanceSchedule !== 'off', 'MACHINES', {
      asks: 'machines.maintenances',
      input: { machine_ids: [...machines] },
    }),
    ...feature(settings.instancesSchedule !== 'off', 'INSTANCES_SCHEDULE', {
      asks: 'instances.page',
      ask: async (client, options) => ({ instances: await listInstances(client, { ids: [], ...options }) }),
    }),
    ...feature(settings.accountSchedule !== 'off', 'ACCOUNT_SCHEDULE', { asks: 'tfa.status' }),
    ...(deployments.length > 0
      ? [{ about: 'deployments', asks: 'deployments.list' as const, fine: 'the key may list them' }]
      : []),
  ];
}
