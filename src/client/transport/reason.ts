import { BODY_TOO_LARGE } from '../../wire/body.ts';
import type { TransportReason } from '../errors.ts';
import { isUndiciError } from './undici.ts';

/** EPERM and EACCES: a firewall of this machine. ETIMEDOUT: Node tried several addresses. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EPERM',
  'EACCES',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Node's own codes, and OpenSSL's (node:tls, "X509 certificate error codes"). */
const TLS =
  /^(ERR_TLS|ERR_SSL|UNABLE_TO_|CRL_|ERROR_IN_)|CERT|^(EPROTO|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)$/;

export function transportReason(error: Error): TransportReason {
  const code = errorCode(error);
  if (code === undefined) return error.name === 'HTTPParserError' ? 'malformed' : 'other';
  if (code === 'ECONNREFUSED') return 'refused';
  if (code === BODY_TOO_LARGE) return 'too-large';
  if (['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET', 'UND_ERR_CLOSED'].includes(code))
    return 'reset';
  if (['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ENODATA'].includes(code)) return 'dns';
  if (UNREACHABLE.has(code)) return 'unreachable';
  // A proxy that refuses a CONNECT has the code of an abort; a real abort never comes here.
  if (code.startsWith('UND_ERR_PRX') || code === 'UND_ERR_ABORTED') return 'proxy';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'malformed';
  if (TLS.test(code)) return 'tls';
  return 'other';
}

function errorCode(error: Error): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === 'string') return code;
  // Node reports one error for each address.
  if (error instanceof AggregateError) return errorCode(error.errors[0] as Error);
  return isUndiciError(error) ? error.code : undefined;
}
