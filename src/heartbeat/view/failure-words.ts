import type { FailureLabel } from '../engine/outcome.ts';

/** What a person reads where a metric has a label. */
export const FAILURE_WORDS: Readonly<Record<FailureLabel | 'overdue', string>> = {
  dns: 'the name of the service does not resolve',
  connect: 'could not connect: the service or the proxy refused, or is unreachable',
  tls: 'the TLS handshake failed',
  reset: 'the connection was closed',
  timeout: 'no answer in time',
  overdue: 'no answer yet',
  'server-error': 'the service failed',
  redirect: 'the service redirects; is PILOTLIGHT_BASE_URL its address, with https?',
  status: 'the status of the answer is unexpected',
  unreadable: 'the answer does not come from the service; is there a proxy in between?',
  rejected: 'the service answered success: false',
  'wrong-deployment': 'the answer was for another deployment',
  unknown: 'unexpected error; please report it',
  throttled: 'the service limits the rate of requests',
  unauthorized: 'the service refuses the API key',
  'no-key': 'no API key could be read, so nothing was sent',
  'stale-key': 'the service refused an older API key',
  'not-found': 'the service does not know this deployment',
};
