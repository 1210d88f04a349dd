/** What doctor asks beside the questions of `check --online`: each for an assumption that nothing has told yet. */
import type { Settings } from '../../config/options.ts';
import type { AssumptionId } from '../../contract/assumptions.ts';
import type { Traits } from '../../doctor/learn.ts';
import { PROBE_TAIL } from '../../logs/follower/pace.ts';
import { afterList, followedLogs, NOTHING_KNOWN } from '../../logs/lookup/wanted.ts';
import { questionsOf, type Answers, type Question } from '../check/ask-service.ts';

/** Long enough that the unit shows in it, in lines and in bytes. */
const LONG_TAIL = 2_000;
/** Logs can be slow, ms. */
const LOG_TIMEOUT_MS = 60_000;

/**
 * All questions in their order. None needs a permission that the configured features do not need: lists and logs of worker
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
  const isOpen = (...ids: readonly AssumptionId[]) => ids.some((id) => traits()[id] === undefined);
  const isTailOpen = () => isOpen('tail_unit', 'log_shape');
  const log = (tail: number): Question => ({
    ...quiet('workergroups.logs', (answers) => isTailOpen() && groupOf(settings, answers) !== undefined),
    ask: (client, options, answers) =>
      client.workergroups.logs(
        { id: groupOf(settings, answers) ?? 0, tail },
        { ...options, timeoutMs: LOG_TIMEOUT_MS },
      ),
  });
  const heartbeat = (id: number): Question => ({
    about: `heartbeat of ${id}`,
    asks: 'deployments.heartbeat',
    fine: 'accepted',
    input: { id },
  });
  return [
    ...configured,
    ...(isAsked('workergroups.list') ? [] : [quiet('workergroups.list', isTailOpen)]),
    log(LONG_TAIL),
    log(PROBE_TAIL),
    ...(isAsked('instances.page') ? [quiet('instances.list', () => isOpen('instances_v0'))] : []),
    ...(settings.endpoints.length > 0 ? [quiet('serverless.endpointsSpend', () => isOpen('spend'))] : []),
    ...(deployment === undefined ? [] : [heartbeat(deployment)]),
  ];
}

function quiet(asks: Question['asks'], isOpen: NonNullable<Question['isOpen']>): Question {
  return { about: asks, asks, fine: '', isQuiet: true, isOpen };
}

/** The first worker group that is configured; if none is, the first of the account. */
function groupOf({ workerGroups }: Settings, answers: Answers): number | undefined {
  const wanted = workerGroups.length > 0 ? workerGroups : ([{ by: 'all' }] as const);
  const listed = answers['workergroups.list']?.results ?? [];
  return followedLogs('workergroup', wanted, afterList(NOTHING_KNOWN, listed))[0]?.id;
}
