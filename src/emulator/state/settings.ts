import * as z from 'zod';
import { LIMITS } from '../../contract/limits.ts';

const count = (value: number, is: string) => z.int().nonnegative().default(value).describe(is);
const countFrom1 = (value: number, is: string) => z.int().positive().default(value).describe(is);
const amount = (value: number, is: string) => z.number().nonnegative().default(value).describe(is);
const amountAbove0 = (value: number, is: string) => z.number().positive().default(value).describe(is);

/** Numbers that the interface does not show, with default and unit. */
export const settingsSchema = z.strictObject({
  randomSeed: z.int().default(1).describe('seed of all random choices: log lines, probabilities of faults'),
  deploymentTtlSeconds: amountAbove0(300, 'TTL of a deployment for which the seed gives none'),
  deploymentTtlStarts: z
    .enum(['created', 'first heartbeat'])
    .default('created')
    .describe('from when the TTL of a deployment that never had a heartbeat counts'),
  logLinesPerSecond: amount(2, 'how fast the log of a worker group grows, where the seed does not say'),
  logRetainedLines: countFrom1(100_000, 'lines of a worker group that the service keeps'),
  logTailMax: countFrom1(LIMITS.logTailMax, 'most lines of one answer, if `tail` counts lines'),
  instanceCreatedSeconds: amount(5, 'how long a new instance stays `created`'),
  instanceLoadingSeconds: amount(25, 'how long a new instance stays `loading` before it runs'),
  instanceDiskGb: amountAbove0(10, 'disk in GB, where neither request nor template says'),
  diskPriceShare: z
    .number()
    .min(0)
    .max(1)
    .default(0.04)
    .describe('share of the price that is for the disk, also while it is stopped'),

  workersRecruited: count(3, 'workers that a new worker group begins with, where test_workers is not given'),
  workerUpdateSeconds: amount(60, 'how long a rolling update takes for each worker, one after the other'),
  workerPerformanceLeast: amountAbove0(900, 'units/s that a worker can do; drawn evenly from here …'),
  workerPerformanceMost: amountAbove0(1100, '… to here'),
  workerSlots: countFrom1(1, 'requests that share the performance of a worker at a time'),
  workerPriceLeast: amount(0.36, 'price in $/h of a worker that is recruited; drawn evenly from here …'),
  workerPriceMost: amount(0.44, '… to here'),
  workerModelLoadingSeconds: amount(30, 'how long a new worker loads its model (model_loading)'),
  workerColdStartSeconds: amount(20, 'how long a stopped worker takes to be ready again (starting)'),
  workerDeathsPerHour: amount(0, 'how often a ready worker dies, in the mean: its machine is gone'),
  workerErrorsPerHour: amount(0, 'how often a ready worker errs, in the mean: it starts again'),
  workerErrorSeconds: amount(60, 'how long a worker stays in `error` before it reboots or is destroyed'),
  workerDestroyingSeconds: amount(5, 'how long a worker that is given up stays `destroying`'),
  engineDecisionSeconds: amountAbove0(5, 'how often the engine of an endpoint looks at its load and decides'),
  engineLoadWindowSeconds: amountAbove0(60, 'its estimate of the load is the mean over this time'),
  engineScaleDownSeconds: amount(60, 'it stops a ready worker once it has not wanted it for this time'),
  engineDestroySeconds: amount(1800, 'it destroys a stopped worker that it did not want for this time'),
  requestGiveUpSeconds: amountAbove0(600, 'how long the clients of a load wait for a worker'),
  requestsWaitingMost: countFrom1(100_000, 'requests that may wait at an endpoint; others are refused'),

  deploymentVersionsKept: countFrom1(10, 'versions of a deployment that are kept; the oldest go first'),

  tfaFailuresAllowed: count(5, 'wrong codes in a row that a 2FA method stands; one more locks it'),
  totpSteps: count(1, 'periods of 30 s before and after now whose authenticator codes are taken'),
  totpOnce: z.boolean().default(false).describe('whether an authenticator code is good once (RFC 6238, 5.2)'),
  methodsPerType: countFrom1(1, '2FA methods of a type that an account may add; then duplicate_tfa_method'),
  smsPerWindow: countFrom1(5, 'SMS that an account gets within smsWindowSeconds; then sms_rate_limited'),
  smsWindowSeconds: amountAbove0(600, 'seconds that smsPerWindow counts'),
  phoneCap: countFrom1(10, 'SMS that a number gets before anybody is authorized; then preauth_phone_cap'),
  phoneCapWindowSeconds: amountAbove0(86_400, 'seconds that phoneCap counts'),
  sessionSeconds: amountAbove0(86_400, 'how long the session_key of a 2FA login is good; then auth_error'),
});
/** All settings, with their defaults. */
export type Settings = Readonly<z.output<typeof settingsSchema>>;
/** The settings to change. */
export type SettingsInput = z.input<typeof settingsSchema>;
