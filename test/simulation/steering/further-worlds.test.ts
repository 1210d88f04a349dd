/** The other half. */
import { LAST_SEED, MIDDLE_SEED } from './worlds.ts';
import { judgeWorlds } from './worlds-judged.ts';

judgeWorlds(MIDDLE_SEED + 1, LAST_SEED);
