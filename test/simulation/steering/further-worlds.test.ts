/** The other half. */
import { WORLDS } from './worlds.ts';
import { judgeWorlds } from './worlds-judged.ts';

judgeWorlds(Math.floor(WORLDS / 2) + 1, WORLDS);
