#!/usr/bin/env node
/** Checks Node's version before anything newer is loaded: an old one gets a sentence, not a stack. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `pilotlight needs Node 22.19 or newer; this is ${process.versions.node}. ` +
      'In a clone, `npm start` and `npm run demo` bring their own.\n',
  );
  // EXIT.usage, of a file that such a Node may not be able to load.
  process.exit(2);
}
// Parser and commands would only delay the heart's first heartbeat.
if (process.argv.length === 3 && process.argv[2] === 'run') {
  const { keepEarlySignals } = await import('../heartbeat/process/early-signals.ts');
  keepEarlySignals();
  const { runHeart } = await import('./heart.ts');
  await runHeart();
} else if (process.argv.length === 3 && /^(?:-V|--version)$/.test(process.argv[2] ?? '')) {
  // Scripts ask for it, so nothing else is loaded.
  const { buildInfo } = await import('../build-info.ts');
  // A reader that has left is not a failure.
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1));
  process.stdout.write(`${buildInfo().version}\n`);
} else {
  const [{ runProgram }, { keepSecretsOutOfDumps }] = await Promise.all([
    import('./program.ts'),
    import('../heartbeat/process/system.ts'),
  ]);
  keepSecretsOutOfDumps();
  await runProgram(process.argv);
}
