// Preloaded with NODE_OPTIONS=--import: while the file that RESOLVER_DOWN names exists, the system's resolver knows no
// name, as with a name server that is away.
import dns from 'node:dns';
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { RESOLVER_DOWN = '' } = process.env;
const { lookup } = dns;

dns.lookup = (hostname, options, callback) => {
  if (!existsSync(RESOLVER_DOWN)) return lookup(hostname, options, callback);
  const error = Object.assign(new Error(`getaddrinfo EAI_AGAIN ${hostname}`), { code: 'EAI_AGAIN' });
  setTimeout(() => callback(error), 100);
};
syncBuiltinESMExports();
