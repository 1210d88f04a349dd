import * as z from 'zod';

/** The end of a log: one text, as the interface says, or the public dialect's text for each level. */
export const logAnswer = z.looseObject({
  logs: z.string().nullish(),
  info0: z.string().nullish(),
  info1: z.string().nullish(),
  trace: z.string().nullish(),
  debug: z.string().nullish(),
});
