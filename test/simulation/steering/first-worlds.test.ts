/** Half of the worlds: files of tests run side by side. */
import { FIRST_SEED, MIDDLE_SEED } from './worlds.ts';
import { judgeWorlds } from './worlds-judged.ts';

judgeWorlds(FIRST_SEED, MIDDLE_SEED);
