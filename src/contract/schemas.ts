/** Field types that several resources share. Requests are strict, responses tolerate added fields. */
import { z } from 'zod';

export const id = z.int().nonnegative();

/** Unix epoch seconds; the interface counts time in seconds, fractions allowed (§1). */
export const timestamp = z.number();
