/** A browser sends what any page tells it: https://www.w3.org/TR/fetch-metadata/ */
import type { IncomingHttpHeaders } from 'node:http';

/** The address bar, or a page of this origin. */
const OWN_SITES: ReadonlySet<string> = new Set(['none', 'same-origin']);
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/** A browser cannot reach a socket file, so any Host is allowed there. */
export function refusalOfForeign(headers: IncomingHttpHeaders, isSocketFile: boolean): string | undefined {
  const { host = '', origin, 'sec-fetch-site': site } = headers;
  if (!isSocketFile && !LOOPBACK.test(host)) return 'only requests to a loopback address are answered here';
  const isOwn = !isSocketFile && origin?.toLowerCase() === `http://${host.toLowerCase()}`;
  if (origin !== undefined && !isOwn) return 'requests from pages of other origins are not answered here';
  if (site !== undefined && !OWN_SITES.has(site))
    return 'requests from pages of other sites are not answered here';
  return undefined;
}
