/** What else could send the heartbeat, and the table that compares. */

/** As peers.ts prints it: a line of JSON. */
export interface PeerMeasurement {
  readonly peer: string;
  /** Proportional set size of the peer and all that it has started. */
  readonly memoryMb: number;
  readonly anonymousMb: number;
  /** To the first heartbeat that arrives. */
  readonly startMs: number;
  readonly cpuMsPerBeat: number;
}

const PEERS: Readonly<Record<string, string>> = {
  pilotlight: 'pilotlight, with metrics, status and checks',
  naive: 'a daemon of the same packages, written in an afternoon',
  vendor: "the vendor SDK's loop, in Python",
  curl: 'curl in a shell loop',
};

export function reportPeer(measurement: PeerMeasurement): void {
  const rounded = Object.entries(measurement).map(([name, value]) => [
    name,
    typeof value === 'number' ? Number(value.toPrecision(3)) : value,
  ]);
  process.stdout.write(`${JSON.stringify(Object.fromEntries(rounded))}\n`);
}

/** In Markdown. */
export function peerTable(measurements: readonly PeerMeasurement[]): string {
  const header = [
    'one deployment',
    'memory, MB',
    'anonymous, MB',
    'first heartbeat, ms',
    'CPU for a heartbeat, ms',
  ];
  const rows = measurements.map(({ peer, memoryMb, anonymousMb, startMs, cpuMsPerBeat }) => [
    PEERS[peer] ?? peer,
    ...[memoryMb, anonymousMb, startMs, cpuMsPerBeat].map((value) => String(value)),
  ]);
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
