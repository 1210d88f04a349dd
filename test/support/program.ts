/** Path of the program that tests start as a process: the bundle of this run (built-program.ts), or the sources. */
import { root } from './optional.ts';

export const PROGRAM = process.env['TEST_PROGRAM'] ?? `${root}src/cli/main.ts`;
