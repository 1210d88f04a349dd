/**
 * Who may ask the admin routes: programs of this machine. A browser is one too, and does what any page tells it, so
 * what a page of another origin sends is refused (https://www.w3.org/TR/fetch-metadata/), and what names another host:
 * a page whose name was rebound to this machine would be of the same origin.
 */
import type { IncomingHttpHeaders } from 'node:http';

/** Of a request that a person made by hand, in the address bar, or the page of this origin. */
const OWN_SITES: ReadonlySet<string> = new Set(['none', 'same-origin']);
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/** Why a request is refused, as a sentence without an end. On a socket file any Host is fine: no browser gets there. */
export function refusalOfForeign(headers: IncomingHttpHeaders, isSocketFile: boolean): string | undefined {
  const { host = '', origin, 'sec-fetch-site': site } = headers;
  if (!isSocketFile && !LOOPBACK.test(host)) return 'only requests to a loopback address are answered here';
  const isOwn = !isSocketFile && origin?.toLowerCase() === `http://${host.toLowerCase()}`;
  if (origin !== undefined && !isOwn) return 'requests from pages of other origins are not answered here';
  if (site !== undefined && !OWN_SITES.has(site))
    return 'requests from pages of other sites are not answered here';
  return undefined;
}
