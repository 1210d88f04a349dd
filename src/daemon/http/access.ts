/** Who may see what LISTEN shows, and who may use the admin routes. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { plain, type Reply, type Route, type Routes } from './reply.ts';

const UNAUTHORIZED: Reply = {
  ...plain(401, 'a Bearer token is needed: PILOTLIGHT_METRICS_TOKEN\n'),
  headers: { 'www-authenticate': 'Bearer' },
};

/** A reload may change the token. `refusals`: what a route answers beside 401. */
export function behindToken(
  routes: Routes,
  token: () => string | undefined,
  refusals: Readonly<Record<string, Reply>> = {},
): Routes {
  return Object.fromEntries(
    Object.entries(routes).map(([key, route]): [string, Route] => [
      key,
      (request) => {
        const wanted = token();
        if (wanted === undefined || bearerMatches(request.headers.authorization, wanted))
          return route(request);
        return { ...UNAUTHORIZED, ...refusals[key], status: UNAUTHORIZED.status };
      },
    ]),
  );
}

/** The hashes are compared, so that the time does not depend on the lengths. */
function bearerMatches(header: string | undefined, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(header ?? '')?.[1] ?? '';
  return timingSafeEqual(sha256(given), sha256(token));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

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
