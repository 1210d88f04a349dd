/** A private certificate authority made by openssl, and a TLS front for a plain HTTP server. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { listening, type Listening } from './listening.ts';

function openssl(folder: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export function createPrivateCa(folder: string) {
  const subject = ['-subj', '/CN=Private test CA', '-days', '2'];
  openssl(folder, 'req', '-x509', ...NEW_KEY, '-keyout', 'ca.key', '-out', 'ca.pem', ...subject);
  return {
    /** Its own certificate, for NODE_EXTRA_CA_CERTS. */
    file: join(folder, 'ca.pem'),
    /** Key and certificate of a server with these names. */
    issue(...names: readonly string[]): Certificate {
      const alternatives = names.map((name) => (/^[\d.]+$/.test(name) ? `IP:${name}` : `DNS:${name}`));
      writeFileSync(join(folder, 'names'), `subjectAltName=${alternatives.join(',')}\n`);
      openssl(folder, 'req', ...NEW_KEY, '-keyout', 'key.pem', '-out', 'request.pem', '-subj', '/CN=service');
      const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
      const files = ['-in', 'request.pem', '-out', 'cert.pem', '-extfile', 'names'];
      openssl(folder, 'x509', '-req', ...files, ...signing);
      const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
      return { key: read('key.pem'), cert: read('cert.pem') };
    },
  };
}

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** Ends TLS and hands the bytes to the server at `target`, a port of this machine. */
export function startTlsFront(certificate: Certificate, target: number): Promise<Listening> {
  const server = createServer(certificate, (client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  // A client that does not trust the certificate breaks the handshake off.
  server.on('tlsClientError', () => {});
  return listening(server, 'secureConnection');
}
