/** Half of the worlds: files of tests run side by side. */
import { WORLDS } from './worlds.ts';
import { judgeWorlds } from './worlds-judged.ts';

judgeWorlds(1, Math.floor(WORLDS / 2));
