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
  workersRecruited: z
    .int()
    .nonnegative()
    .default(3)
    .describe('workers that a new worker group begins with, where its creation names no test_workers'),
  workerUpdateSeconds: z
    .number()
    .nonnegative()
    .default(60)
    .describe('how long a rolling update takes for each worker, one after the other'),
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
