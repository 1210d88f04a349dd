/**
 * Trusted certificates: Node's, and those of NODE_EXTRA_CA_CERTS. Node reads that file once; this reads it
 * again when a certificate is refused.
 */
import type { Stats } from 'node:fs';
import type { SecureContext } from 'node:tls';
import { readSlowFile } from '../slow-file.ts';

const BUNDLE_BYTES = 2 * 1024 * 1024;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

export class Trust {
  readonly #path: string | undefined;
  #context: SecureContext | undefined;
  #extra: string | undefined;

  constructor(path = process.env['NODE_EXTRA_CA_CERTS'] || undefined) {
    this.#path = path;
  }

  /** All connections share it: making one costs half of a TLS connection. */
  context(): SecureContext {
    // TLS is loaded when it is needed, as undici does.
    return (this.#context ??= process.getBuiltinModule('node:tls').createSecureContext());
  }

  /** Reads the file again. True if other certificates count now. */
  async refresh(): Promise<boolean> {
    if (this.#path === undefined) return false;
    try {
      // A secure context takes garbage silently.
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

function refuse(stats: Stats): void {
  if (!stats.isFile()) throw new Error('it is not a regular file');
  if (stats.size > BUNDLE_BYTES) throw new Error(`${stats.size} bytes are no bundle of certificates`);
}
