/** What doctor asks beside the questions of `check --online`: each for an assumption that nothing has told yet. */
import type { Settings } from '../../config/options.ts';
import type { AssumptionId } from '../../contract/assumptions.ts';
import type { Traits } from '../../doctor/learn.ts';
import { PROBE_TAIL } from '../../logs/follower/pace.ts';
import { afterList, followedLogs, NOTHING_KNOWN } from '../../logs/lookup/wanted.ts';
import type { Client } from '../../client/client.ts';
import { questionsOf, type Answers, type Question } from '../check/ask-service.ts';

/** Long enough that the unit shows in it, in lines and in bytes. */
const LONG_TAIL = 2_000;

/**
 * All questions in their order. No one needs a permission that the configured features do not need: lists and logs of worker
 * groups need none that is named, and the costs of endpoints need that of ACCOUNT_SCHEDULE.
 *
 * @param traits Those that are known when a question would leave.
 * @param deployment To send one heartbeat to.
 */
export function doctorQuestions(
  settings: Settings,
  traits: () => Traits,
  deployment: number | undefined,
): readonly Question[] {
  const configured = questionsOf(settings);
  const isAsked = (id: Question['asks']): boolean => configured.some(({ asks }) => asks === id);
  const isUnknown = (...ids: readonly AssumptionId[]) => ids.some((id) => traits()[id] === undefined);
  const quiet = (asks: Question['asks'], ask: Question['ask'], isOpen: Question['isOpen']): Question => ({
    about: asks,
    asks,
    fine: '',
    ask,
    isOpen: isOpen ?? (() => true),
    isQuiet: true,
  });
  const askLog = (tail: number) =>
    quiet(
      'workergroups.logs',
      (client, options, answers) =>
        client.workergroups.logs(
          { id: groupOf(settings, answers) ?? 0, tail },
          { ...options, timeoutMs: 60_000 },
        ),
      (answers) => isUnknown('tail_unit', 'log_shape') && groupOf(settings, answers) !== undefined,
    );
  return [
    ...configured,
    ...(isAsked('workergroups.list')
      ? []
      : [
          quiet(
            'workergroups.list',
            (client, options) => client.workergroups.list({}, options),
            () => isUnknown('tail_unit', 'log_shape'),
          ),
        ]),
    askLog(LONG_TAIL),
    askLog(PROBE_TAIL),
    ...(isAsked('instances.page')
      ? [
          quiet(
            'instances.list',
            (client, options) => client.instances.list({}, options),
            () => isUnknown('instances_v0'),
          ),
        ]
      : []),
    ...(settings.endpoints.length > 0 && isAsked('tfa.status')
      ? [
          quiet(
            'serverless.endpointsSpend',
            (client, options) => client.serverless.endpointsSpend({}, options),
            () => isUnknown('spend'),
          ),
        ]
      : []),
    ...(deployment === undefined ? [] : [heartbeatOf(deployment)]),
  ];
}

function heartbeatOf(id: number): Question {
  return {
    about: `heartbeat of ${id}`,
    asks: 'deployments.heartbeat',
    fine: 'accepted',
    ask: (client, options) => client.deployments.heartbeat({ id }, options),
  };
}

/** The first worker group that is configured; if none is, the first of the account. */
function groupOf({ workerGroups }: Settings, answers: Answers): number | undefined {
  const list = answers.get('workergroups.list') as
    | Awaited<ReturnType<Client['workergroups']['list']>>
    | undefined;
  const wanted = workerGroups.length > 0 ? workerGroups : ([{ by: 'all' }] as const);
  return followedLogs('workergroup', wanted, afterList(NOTHING_KNOWN, list?.results ?? []))[0]?.id;
}
