/** Where the admin routes listen: `host:port`, or `unix:/path` for a socket that only programs of this user can open. */
import { listenAddress, type ListenAddress, type ValueType } from './value-types.ts';

export interface SocketPath {
  /** Absolute. */
  readonly path: string;
}

export type AdminAddress = ListenAddress | SocketPath;

const SCHEME = 'unix:';
/** Of a path that each system takes: Linux has room for 107 bytes, macOS for 103, and a longer one is cut without a word. */
const PATH_BYTES = 103;
const ALLOWED = `host:port, such as 127.0.0.1:9848, or ${SCHEME} and an absolute path of at most ${PATH_BYTES} bytes, such as ${SCHEME}/run/pilotlight/admin.sock`;

export const adminAddress: ValueType<AdminAddress> = {
  name: 'host:port or unix:PATH',
  parse(value) {
    if (!value.startsWith(SCHEME)) {
      const { value: address } = listenAddress.parse(value);
      return address ? { value: address, problems: [] } : refused(value);
    }
    const path = value.slice(SCHEME.length);
    const bytes = Buffer.byteLength(path);
    if (bytes > PATH_BYTES) return refused(value, `the path has ${bytes} bytes`);
    if (!/^\/[^\0]*[^/\0]$/.test(path)) return refused(value, 'the path of a file is needed, from / on');
    return { value: { path }, problems: [] };
  },
};

function refused(got: string, message?: string): ReturnType<typeof adminAddress.parse> {
  return { value: undefined, problems: [{ at: '', got, allowed: ALLOWED, ...(message && { message }) }] };
}
