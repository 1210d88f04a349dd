/** Where the app beside the heart says whether it is well: APP_HEALTH. */
import { canDecode, withoutCredentials, type ValueType } from './value-types.ts';

const ALLOWED =
  'http://… or https://…, which answers 2xx while the app is well, such as http://127.0.0.1:8000/health; or tcp://host:port';

export const appAddress: ValueType<string> = {
  name: 'http, https or tcp address',
  parse(value) {
    const problem = problemOf(value);
    if (problem === undefined) return { value, problems: [] };
    const got = withoutCredentials(value);
    return { value: undefined, problems: [{ at: '', got, allowed: ALLOWED, message: problem }] };
  },
};

function problemOf(value: string): string | undefined {
  if (!URL.canParse(value)) return 'it is no address';
  const url = new URL(value);
  const { protocol, hostname, port, hash, pathname, search, username, password } = url;
  if (!['http:', 'https:', 'tcp:'].includes(protocol)) return `${protocol}// is not asked`;
  if (hostname === '') return 'it names no host';
  if (hash !== '') return 'a fragment is never sent';
  if (!canDecode(url)) return 'a percent sign in user or password encodes nothing';
  if (protocol !== 'tcp:') return undefined;
  if (port === '' || port === '0') return 'it names no port';
  const isBare = username + password + search === '' && /^\/?$/.test(pathname);
  return isBare ? undefined : 'tcp has nothing beside host and port';
}
