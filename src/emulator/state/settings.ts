/**
 * Numbers that the interface does not show: thresholds, rates and timings. They are this project's
 * assumptions, named here with their defaults, and can be set in a seed or when the emulator starts.
 */
import * as z from 'zod';
import { LIMITS } from '../../contract/limits.ts';

/** How a 429 looks. */
export const THROTTLE_SHAPES = ['text', 'detail', 'error'] as const;
export type ThrottleShape = (typeof THROTTLE_SHAPES)[number];

/** Numbers of 2FA (§8). */
const tfaSettings = {
  tfaFailuresAllowed: z
    .int()
    .nonnegative()
    .default(5)
    .describe('wrong codes in a row that a 2FA method stands; one more locks it for 15 minutes'),
  totpSteps: z
    .int()
    .nonnegative()
    .default(1)
    .describe('periods of 30 s before and after the present one whose authenticator codes are taken too'),
  totpOnce: z
    .boolean()
    .default(false)
    .describe('whether an authenticator code is good only once (RFC 6238, section 5.2)'),
  methodsPerType: z
    .int()
    .positive()
    .default(1)
    .describe('2FA methods of one type that an account may add; one more is duplicate_tfa_method'),
  smsPerWindow: z
    .int()
    .positive()
    .default(5)
    .describe('2FA codes by SMS that an account gets within smsWindowSeconds; then sms_rate_limited'),
  smsWindowSeconds: z.number().positive().default(600).describe('seconds that smsPerWindow counts'),
  phoneCap: z
    .int()
    .positive()
    .default(10)
    .describe(
      'codes that callers who are not logged in, and authorizations, may have sent to one phone number within phoneCapWindowSeconds; then preauth_phone_cap',
    ),
  phoneCapWindowSeconds: z.number().positive().default(86_400).describe('seconds that phoneCap counts'),
  sessionSeconds: z
    .number()
    .positive()
    .default(86_400)
    .describe('how long the session_key of a 2FA login is good; then auth_error'),
};

/** Numbers of the fleet: how workers perform, start and fail, and how the engine decides. */
const fleetSettings = {
  workersRecruited: z
    .int()
    .nonnegative()
    .default(3)
    .describe('workers that a new worker group begins with, where its creation names no test_workers'),
  workersMost: z
    .int()
    .positive()
    .default(500)
    .describe('workers that an endpoint gets at most, whatever its max_workers: there are no more machines'),
  workerUpdateSeconds: z
    .number()
    .nonnegative()
    .default(60)
    .describe('how long a rolling update takes for each worker, one after the other'),
  workerPerformanceLeast: z
    .number()
    .positive()
    .default(900)
    .describe('work units a second that a worker can do; each is drawn evenly from here …'),
  workerPerformanceMost: z.number().positive().default(1100).describe('… to here'),
  workerSlots: z
    .int()
    .positive()
    .default(1)
    .describe('requests that a worker works on side by side, each at its share of the performance'),
  workerPriceLeast: z
    .number()
    .nonnegative()
    .default(0.36)
    .describe('price in $/h of a worker that the engine recruits; each is drawn evenly from here …'),
  workerPriceMost: z.number().nonnegative().default(0.44).describe('… to here'),
  workerModelLoadingSeconds: z
    .number()
    .nonnegative()
    .default(30)
    .describe('how long a new worker loads its model once its instance runs (model_loading)'),
  workerColdStartSeconds: z
    .number()
    .nonnegative()
    .default(20)
    .describe('how long a stopped worker takes to be ready again (starting)'),
  workerDeathsPerHour: z
    .number()
    .nonnegative()
    .default(0)
    .describe('how often a ready worker dies, in the mean: its machine is gone, and another is recruited'),
  workerErrorsPerHour: z
    .number()
    .nonnegative()
    .default(0)
    .describe('how often a ready worker errs, in the mean: it loses its requests and starts again'),
  workerErrorSeconds: z
    .number()
    .nonnegative()
    .default(60)
    .describe('how long a worker stays in `error` before it reboots, or is destroyed where it has died'),
  workerDestroyingSeconds: z
    .number()
    .nonnegative()
    .default(5)
    .describe('how long a worker that is given up stays `destroying`'),
  engineDecisionSeconds: z
    .number()
    .positive()
    .default(5)
    .describe('how often the engine of an endpoint looks at its load and decides'),
  engineLoadWindowSeconds: z
    .number()
    .positive()
    .default(60)
    .describe('its estimate of the load is the mean of the work that arrived in this time'),
  engineScaleDownSeconds: z
    .number()
    .nonnegative()
    .default(60)
    .describe('it stops a ready worker once it has not wanted it for this time'),
  engineDestroySeconds: z
    .number()
    .nonnegative()
    .default(1800)
    .describe('it destroys a stopped worker once it has not wanted it at all for this time'),
  requestGiveUpSeconds: z
    .number()
    .positive()
    .default(600)
    .describe('how long the clients of a load wait for a worker before they go away'),
  requestsWaitingMost: z
    .int()
    .positive()
    .default(100_000)
    .describe('requests that may wait for a worker of an endpoint; further ones are refused'),
};

export const settingsSchema = z.strictObject({
  randomSeed: z.int().default(1).describe('seed of all random choices: log lines, probabilities of faults'),
  deploymentTtlSeconds: z
    .number()
    .positive()
    .default(300)
    .describe('seconds without a heartbeat after which a deployment expires, where the seed gives none'),
  deploymentTtlStarts: z
    .enum(['created', 'first heartbeat'])
    .default('created')
    .describe('from when the TTL of a deployment that never had a heartbeat counts'),
  logLinesPerSecond: z
    .number()
    .nonnegative()
    .default(2)
    .describe('how fast the log of a worker group grows, where the seed does not say'),
  logRetainedLines: z
    .int()
    .positive()
    .default(100_000)
    .describe('lines of a worker group that the service still has; older ones are gone'),
  logTailMax: z
    .int()
    .positive()
    .default(LIMITS.logTailMax)
    .describe('most lines that one get_workergroup_logs answers, however long the tail asked for'),
  instanceCreatedSeconds: z
    .number()
    .nonnegative()
    .default(5)
    .describe('how long a new instance stays `created`'),
  instanceLoadingSeconds: z
    .number()
    .nonnegative()
    .default(25)
    .describe('how long a new instance stays `loading` before it runs'),
  instanceDiskGb: z
    .number()
    .positive()
    .default(10)
    .describe('disk of an instance for which neither the request nor a template says, in GB'),
  ...fleetSettings,
  deploymentVersionsKept: z
    .int()
    .positive()
    .default(10)
    .describe('versions of a deployment that are kept; the oldest go first'),
  minIntervalSeconds: z
    .number()
    .nonnegative()
    .default(0)
    .describe(
      'shortest time between two calls of one key to one operation; sooner ones get 429. 0: no limit',
    ),
  minIntervalShape: z
    .enum(THROTTLE_SHAPES)
    .default('text')
    .describe(
      'how the public dialect says that 429: as plain text, as JSON {detail}, as the JSON error body',
    ),
  minIntervalCountsRefused: z
    .boolean()
    .default(false)
    .describe('whether a call that got 429 counts too, so that the interval begins anew with it'),
  ...tfaSettings,
  journalEntries: z.int().positive().default(10_000).describe('requests that the journal keeps'),
});
export type Settings = Readonly<z.output<typeof settingsSchema>>;
export type SettingsInput = z.input<typeof settingsSchema>;
