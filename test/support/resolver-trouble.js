// Preloaded with NODE_OPTIONS=--import: the system's resolver knows each name as RESOLVER_ADDRESS, and while the file
// that RESOLVER_DOWN names exists it knows none, as with a name server that is away.
import dns from 'node:dns';
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { RESOLVER_DOWN = '', RESOLVER_ADDRESS = '127.0.0.1' } = process.env;

dns.lookup = (hostname, options, callback) => {
  if (existsSync(RESOLVER_DOWN)) {
    const error = Object.assign(new Error(`getaddrinfo EAI_AGAIN ${hostname}`), { code: 'EAI_AGAIN' });
    setTimeout(() => callback(error), 100);
  } else if (options.all) setImmediate(() => callback(null, [{ address: RESOLVER_ADDRESS, family: 4 }]));
  else setImmediate(() => callback(null, RESOLVER_ADDRESS, 4));
};
syncBuiltinESMExports();
