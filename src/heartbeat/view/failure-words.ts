import type { FailureLabel } from '../engine/outcome.ts';

/** What a person reads where a metric has a label. */
export const FAILURE_WORDS: Readonly<Record<FailureLabel | 'overdue', string>> = {
  dns: 'the name of the service does not resolve',
  connect: 'no connection: refused or unreachable, or the proxy would not make it',
  tls: 'the TLS handshake failed: is the CA of the service in NODE_EXTRA_CA_CERTS?',
  reset: 'the connection broke',
  timeout: 'no answer in time',
  overdue: 'no answer yet',
  'server-error': 'the service failed (5xx)',
  redirect: 'the service leads elsewhere (3xx): is PILOTLIGHT_BASE_URL its address, with https?',
  status: 'an unexpected status',
  unreadable: 'the answer was no answer to a heartbeat: a proxy in between?',
  rejected: 'the service said success: false',
  'wrong-deployment': 'the answer was for another deployment',
  unknown: 'an unclassified error: please report it',
  throttled: 'the service asks to come more slowly (429)',
  unauthorized: 'the service refuses the API key',
  'stale-key': 'an older API key was refused',
  'not-found': 'the service does not know this deployment',
};
