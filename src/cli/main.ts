#!/usr/bin/env node
/** The program's entry. Looks at Node's version before anything newer is loaded, so that an old one gets a sentence instead of a stack. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `pilotlight needs Node 22.19 or newer; this is ${process.versions.node}. ` +
      'In a clone, `npm start` and `npm run demo` bring their own.\n',
  );
  process.exit(2);
}
const { runProgram } = await import('./program.ts');
await runProgram(process.argv);
