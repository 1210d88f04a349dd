/** A moment as the status and the history publish it. */
import * as z from 'zod';

/** What Date can say to either side of 1970, seconds: beyond it no clock was right, and nothing can be told. */
const FURTHEST_SECONDS = 8.64e12;

export const time = z.number().min(-FURTHEST_SECONDS).max(FURTHEST_SECONDS).describe('Unix seconds');
