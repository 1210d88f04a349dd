// The token is asked for once, and kept for this tab only.
import { byId } from './status-dom.js';

const STORED = 'pilotlight-token';
/** The characters of a header. */
const SENDABLE = /^[ -~]+$/;

/** `refused`: the daemon has refused a token. */
export class TokenNeeded extends Error {
  constructor(refused) {
    super('a token is needed');
    this.refused = refused;
  }
}

export async function ask(path, signal) {
  const token = sessionStorage.getItem(STORED);
  const response = await fetch(path, { signal, headers: token ? { authorization: `Bearer ${token}` } : {} });
  if (response.status === 401) {
    // A late answer may refuse an earlier token.
    if (sessionStorage.getItem(STORED) === token) sessionStorage.removeItem(STORED);
    throw new TokenNeeded(token !== null);
  }
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response;
}

export function tokenGiven({ refused }) {
  const form = byId('access');
  const field = byId('token');
  byId('access-trouble').textContent = refused ? 'The daemon does not take this token.' : '';
  form.hidden = false;
  field.focus();
  return new Promise((resolve) => {
    form.addEventListener(
      'submit',
      (event) => {
        event.preventDefault();
        const token = field.value.trim();
        field.value = '';
        if (!SENDABLE.test(token)) {
          resolve(tokenGiven({ refused: true }));
          return;
        }
        sessionStorage.setItem(STORED, token);
        form.hidden = true;
        resolve();
      },
      { once: true },
    );
  });
}

/** A link carries no token, so its target is fetched and shown. */
export function followLinks(failed) {
  for (const link of document.querySelectorAll('footer a'))
    link.addEventListener('click', (event) => {
      if (sessionStorage.getItem(STORED) === null) return;
      event.preventDefault();
      void ask(link.getAttribute('href'), AbortSignal.timeout(10_000))
        .then((response) => response.text())
        .then((text) => location.assign(URL.createObjectURL(new Blob([text], { type: 'text/plain' }))))
        // The next poll asks for a token.
        .catch((error) => error instanceof TokenNeeded || failed(error));
    });
}
