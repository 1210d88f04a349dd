/** Numbers of 2FA that the interface does not show (§8): this project's assumptions. */
import * as z from 'zod';

export const tfaSettings = {
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
