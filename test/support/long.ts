/** Whether there is time for all that a test has: as `npm run test:long` says. */
export const isLong = process.env['SIMULATION_RUNS'] !== undefined;
