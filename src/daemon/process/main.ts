/** Signals to the process group are the heart's to handle, also while this program is loaded. */
process.umask(0o077); // Whatever it makes is for this user alone.
// SIGUSR1 would open the debugger to every user of this machine, and SIGUSR2 would end the process.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const)
  process.on(signal, () => {});

await import('./serve.ts');
