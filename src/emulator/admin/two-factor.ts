/** 2FA from outside: the codes that were sent, an authenticator, logins that wait for a second factor. */
import * as z from 'zod';
import { coerceFields } from '../../wire/coerce.ts';
import { outboxFilter, tfaChange, userChange } from '../inspect/two-factor.ts';
import { bodyRoute, idOf, route, type AdminParts, type AdminRoute } from './route.ts';

const login = z.strictObject({ user_id: z.int().optional().describe('absent: the first user') });
const totpSecret = z.strictObject({ secret: z.string().describe('base32, of tfa/totp-setup/') });
const newSecret = z.strictObject({ secret: z.string().nullable() });

export function twoFactorRoutes({ outbox, totp, tfa }: AdminParts): AdminRoute[] {
  return [
    route('GET', '/outbox', 'codes sent by SMS and e-mail; filters in the query', ({ query }) => ({
      messages: outbox.messages(outboxFilter.parse(coerceFields(outboxFilter, query))),
    })),
    route('DELETE', '/outbox', 'empties it; the codes stay valid', () => outbox.clear()),
    route('GET', '/totp/{id}', 'the code that the authenticator of a method shows', ({ params }) => ({
      code: totp(idOf(params)),
    })),
    bodyRoute('PUT', '/totp/{id}', 'another secret, or null for one that is lost', newSecret, (request) =>
      tfa.setTotpSecret(idOf(request.params), request.body.secret),
    ),
    bodyRoute('POST', '/totp', 'the code of a secret that is being set up', totpSecret, ({ body }) => ({
      code: totp(body.secret),
    })),
    bodyRoute('POST', '/logins', 'begins a login: a tfa_secret for the logged-out path', login, ({ body }) =>
      tfa.startLogin(body.user_id),
    ),
    bodyRoute('PUT', '/tfa', 'SMS provider, blocked numbers, backing store', tfaChange, ({ body }) =>
      tfa.set(body),
    ),
    bodyRoute('PUT', '/users/{id}', 'e-mail verified, SMS fraud', userChange, ({ params, body }) =>
      tfa.setUser(idOf(params), body),
    ),
    route('GET', '/users/{id}/backup-codes', 'the unused ones', ({ params }) => ({
      backup_codes: tfa.backupCodes(idOf(params)),
    })),
  ];
}
