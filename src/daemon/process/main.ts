/**
 * The daemon as a process: a child of the heart (`src/heartbeat/process`), and nobody's else. It obeys the link alone
 * and ends with it; signals that reach a whole process group or terminal are the heart's to answer, also while the rest
 * of the program is still being loaded.
 */
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});

await import('./serve.ts');
