/** The address of a daemon, as commands that ask one take it. */
import { InvalidArgumentError, Option } from 'commander';

/** `--url`; without it commands go by the environment. */
export function daemonUrlOption(): Option {
  return new Option(
    '--url <url>',
    'address of the daemon; default: this machine, at the port of PILOTLIGHT_LISTEN',
  ).argParser(daemonUrl);
}

function daemonUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError('It is an address such as http://127.0.0.1:9847.');
  // Paths are put behind it.
  return text.replace(/\/+$/, '');
}
