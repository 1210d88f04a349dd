/** Which cron expressions a job may have: what node-cron takes, as far as it takes no time and comes round. */
import { createTask, validate } from 'node-cron';

/** In characters, more than somebody writes: node-cron walks through all that its lists have in common, repeated ones too. */
const LONGEST_SCHEDULE = 100;
/**
 * A part of a field, between commas. node-cron puts numbers in the place of stars and names, wherever they stand, and
 * lists all of a range before it looks at it: for 1-99999999, or *11111111, that takes seconds.
 */
const ITEM =
  /^(?:(?:\*|(?:\d{1,2}|[a-z]{3,9})(?:-(?:\d{1,2}|[a-z]{3,9}))?)(?:\/\d{1,2})?|\?|l(?:-\d{1,2})?|(?:\d{1,2}|l)w|(?:[0-7]|[a-z]{3,9})l|(?:\d|[a-z]{3,9})#\d|@[a-z]+)$/i;

/** Whether it is a cron expression that comes round. */
export function isSchedule(expression: string): boolean {
  const items = expression.trim().split(/[\s,]+/);
  if (expression.length > LONGEST_SCHEDULE || !items.every((item) => ITEM.test(item))) return false;
  return validate(expression) && comesRound(expression);
}

/** The second Monday as "0 0 8-14 * 1#1" never does, which node-cron says only when it looks for it. */
function comesRound(expression: string): boolean {
  const task = createTask(expression, () => {});
  try {
    return task.getNextRuns(1).length > 0;
  } catch {
    return false;
  } finally {
    void task.destroy();
  }
}
