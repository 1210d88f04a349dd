/**
 * How loud a trouble is that lasts: it is logged when it begins and after 2, 4, 8 and so many more failures in a row, and at
 * level debug in between. So a person reads it soon, and again, and no log is flooded.
 */
export function troubleLevel<Level extends string>(failures: number, level: Level): Level | 'debug' {
  return Number.isInteger(Math.log2(failures)) ? level : 'debug';
}
