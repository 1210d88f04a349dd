/**
 * Which certificates a service may have: Node's own, and those of NODE_EXTRA_CA_CERTS. Node reads that file when it
 * starts, so a bundle that is replaced, or comes a moment later, would end all connections for good. It is read again
 * when a certificate is refused, as the key is when the service refuses it.
 */
import type { Stats } from 'node:fs';
import type { SecureContext } from 'node:tls';
import { readSlowFile } from '../slow-file.ts';

/** The bundles of the large distributions have a quarter of that. */
const BUNDLE_BYTES = 2 * 1024 * 1024;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

export class Trust {
  readonly #path: string | undefined;
  #context: SecureContext | undefined;
  /** The certificates of the file that count now; undefined: those of the start. */
  #extra: string | undefined;

  constructor(path = process.env['NODE_EXTRA_CA_CERTS'] || undefined) {
    this.#path = path;
  }

  /** One for all connections: to make it anew takes half of the processor time of a TLS connection. */
  context(): SecureContext {
    // Loaded where TLS is spoken, as undici loads it.
    return (this.#context ??= process.getBuiltinModule('node:tls').createSecureContext());
  }

  /** Reads the file again. True if other certificates count from now on; one that cannot be read changes nothing. */
  async refresh(): Promise<boolean> {
    if (this.#path === undefined) return false;
    try {
      // One that is damaged does not cost the others: a secure context takes garbage without a word.
      const extra = certificatesIn(await readSlowFile(this.#path, refuse)).filter((one) =>
        isCertificate(one),
      );
      const [tls, all] = [process.getBuiltinModule('node:tls'), extra.join('\n')];
      const ofStart = tls.getCACertificates('extra');
      if (extra.length === 0 || all === (this.#extra ?? certificatesIn(ofStart.join('\n')).join('\n')))
        return false;
      const own = tls.getCACertificates('default').filter((one) => !ofStart.includes(one));
      this.#context = tls.createSecureContext({ ca: [...own, ...extra] });
      this.#extra = all;
      return true;
    } catch {
      return false;
    }
  }
}

function certificatesIn(text: string): string[] {
  return Array.from(text.matchAll(CERTIFICATE), ([one]) => one.replaceAll('\r', ''));
}

function isCertificate(text: string): boolean {
  const { X509Certificate } = process.getBuiltinModule('node:crypto');
  try {
    return new X509Certificate(text).raw.length > 0;
  } catch {
    return false;
  }
}

/** A pipe would keep its reader for ever. */
function refuse(stats: Stats): void {
  if (!stats.isFile()) throw new Error('it is not a regular file');
  if (stats.size > BUNDLE_BYTES) throw new Error(`${stats.size} bytes are no bundle of certificates`);
}
