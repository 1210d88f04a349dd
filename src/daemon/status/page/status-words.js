// Words and figures of the status, for the page and for a terminal (cli/fleet).

export function seconds(value) {
  if (value === null || value === undefined) return '—';
  const size = Math.abs(value);
  if (size < 10) return `${value.toFixed(1)} s`;
  if (size < 120) return `${Math.round(value)} s`;
  if (size < 5400) return `${Math.round(value / 60)} min`;
  if (size < 48 * 3600) return `${(value / 3600).toFixed(1)} h`;
  return `${Math.round(value / 86_400)} days`;
}

export function short(value) {
  if (value === null || value === undefined) return '—';
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

export function plural(count, noun) {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** `42`, `square (42)`; `square` while it is missing */
export function deploymentName({ deployment, deployment_id: id }) {
  if (deployment === null) return String(id);
  return printable(id === undefined ? deployment : `${deployment} (${id})`);
}

export function logName({ workergroup_id: group, endpoint_group: endpoint }) {
  return group === undefined ? printable(`Endpoint ${endpoint}`) : `Worker group ${group}`;
}

export function lostLines({ lost_lines_estimate: lost, unknown_gaps: unknown }) {
  if (unknown === 0) return `about ${plural(lost, 'line')} lost`;
  return lost === 0 ? 'how many lines were lost is unknown' : `at least about ${plural(lost, 'line')} lost`;
}

export function clockTime(at) {
  return new Date(at * 1000).toLocaleTimeString();
}

export function counted(reasons) {
  return Object.entries(reasons)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(', ');
}

/** `1 error, 2 warnings`; empty without any. */
export function findingsInWords(findings) {
  return ['error', 'warning']
    .map((severity) => [findings.filter((finding) => finding.severity === severity).length, severity])
    .filter(([count]) => count > 0)
    .map(([count, severity]) => plural(count, severity))
    .join(', ');
}

export function findingInWords({ parameter, got, allowed, message }) {
  const has = got === undefined || got === null ? 'not set' : JSON.stringify(got);
  const wish = allowed.startsWith('advised') ? allowed : `allowed: ${allowed}`;
  return `${parameter} is ${has}; ${wish}: ${message}`;
}

/** Removes colours, and marks what contract/text/controls.ts calls controls; delivered lines keep them. */
export function printable(line) {
  // A progress bar overwrites itself: a terminal shows its last state.
  const shown =
    line
      .replaceAll('\r\n', '\n')
      .split('\r')
      .findLast((part) => part !== '') ?? '';
  return shown
    .replaceAll(/\u001B\[[\d;?]*[A-Za-z]/g, '')
    .replaceAll(
      /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g,
      '·',
    );
}
