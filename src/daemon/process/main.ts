/**
 * The daemon as a process: a child of the heart (`src/heartbeat/process`). It takes orders over the link only, and ends
 * with it. Signals that reach the whole process group or terminal are the heart's to handle, so they are ignored here,
 * also while the rest of the program is still being loaded.
 */
process.umask(0o077); // Whatever it makes is for this user alone.
// Of the last two, Node takes one for the wish to be debugged, by every user of this machine, and the other ends it.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const)
  process.on(signal, () => {});

await import('./serve.ts');
