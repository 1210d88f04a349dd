/** The other end of NOTIFY_SOCKET, as systemd has it: each datagram as it came. Perl, because Node has no such sockets. */
import { join } from 'node:path';
import { startProgram } from './process.ts';
import { temporaryFolder } from './temporary-folder.ts';

const RECEIVER = `
use Socket;
socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or die;
bind($socket, pack_sockaddr_un($ARGV[0])) or die;
$| = 1;
print "bound\\n";
while (defined recv($socket, my $message, 4096, 0)) {
  next unless length $message;
  $message =~ s/\\n+$//;
  $message =~ s/\\n/ /g;
  print "$message\\n";
}
`;

export async function startNotifySocket() {
  const folder = temporaryFolder();
  const path = join(folder.path, 'notify');
  const program = startProgram('perl', ['-e', RECEIVER, path]);
  await program.seen(/bound/);
  return {
    path,
    program,
    /** One string a datagram; its lines are joined by spaces. */
    messages: () =>
      // BARRIER is systemd-notify's own: it waits until its message was taken.
      program
        .stdout()
        .split('\n')
        .slice(1, -1)
        .filter((message) => !message.startsWith('BARRIER')),
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}
