/** Metrics of each deployment's heartbeat: 33 series each, written straight from its row of figures. */
import {
  columnOf,
  FAILURES_COLUMN,
  ROW_LENGTH,
  STATE_COLUMN,
  type FigureName,
} from '../../../heartbeat/view/figures.ts';
import { FAILURE_LABELS, HEARTBEAT_STATES } from '../../../heartbeat/view/view.ts';
import type { Scrape } from '../scrape.ts';
import { numberText, type WrittenFamily } from '../series.ts';
import { Stencil } from '../stencil.ts';

type Write = WrittenFamily<Scrape>['write'];

const SECOND = 1000;
/** Stands for the id in lines that are made for all deployments: no label has it. */
const ID = '\0';

/** One series for each deployment: a figure in the given unit; where it is unknown `unknown`, or no series. */
function perDeployment(figure: FigureName, { unit = 1, unknown = Number.NaN } = {}): Write {
  const column = columnOf(figure);
  const idColumn = columnOf('deploymentId');
  return ({ deployments }, name, text) => {
    const head = new Stencil([`${name}{deployment_id="`, '"} ']);
    for (let row = 0; row < deployments.length; row += ROW_LENGTH) {
      const known = deployments[row + column] ?? Number.NaN;
      const value = Number.isNaN(known) ? unknown : known / unit;
      if (Number.isNaN(value)) continue;
      text.addStencilled(head, String(deployments[row + idColumn]));
      text.addShort(numberText(value));
      text.addShort('\n');
    }
  };
}

/** Lines that are the same for all deployments but for the id. */
function stencilOf(lines: readonly string[]): Stencil {
  return new Stencil(lines.join('').split(ID));
}

function seriesLine(name: string, id: string, [label, labelled]: [string, string], value: number): string {
  return `${name}{deployment_id="${id}",${label}="${labelled}"} ${value}\n`;
}

const writeStates: Write = ({ deployments }, name, text) => {
  const idColumn = columnOf('deploymentId');
  const inState = HEARTBEAT_STATES.map((current) =>
    stencilOf(
      HEARTBEAT_STATES.map((state) => seriesLine(name, ID, ['state', state], state === current ? 1 : 0)),
    ),
  );
  for (let row = 0; row < deployments.length; row += ROW_LENGTH) {
    const lines = inState[deployments[row + STATE_COLUMN] ?? 0];
    if (lines) text.addStencilled(lines, String(deployments[row + idColumn]));
  }
};

const writeFailures: Write = ({ deployments }, name, text) => {
  const idColumn = columnOf('deploymentId');
  const withoutFailures = stencilOf(
    FAILURE_LABELS.map((reason) => seriesLine(name, ID, ['reason', reason], 0)),
  );
  for (let row = 0; row < deployments.length; row += ROW_LENGTH) {
    const id = String(deployments[row + idColumn]);
    if (!hasFailures(deployments, row)) text.addStencilled(withoutFailures, id);
    else
      for (const [place, reason] of FAILURE_LABELS.entries())
        text.add(seriesLine(name, id, ['reason', reason], deployments[row + FAILURES_COLUMN + place] ?? 0));
  }
};

function hasFailures(deployments: Scrape['deployments'], row: number): boolean {
  for (let at = row + FAILURES_COLUMN; at < row + ROW_LENGTH; at += 1) if (deployments[at] !== 0) return true;
  return false;
}

export const deploymentFamilies: readonly WrittenFamily<Scrape>[] = [
  {
    name: 'deployment_ttl_seconds',
    type: 'gauge',
    help: 'TTL of the deployment; absent where it is not known.',
    write: perDeployment('ttlMs', { unit: SECOND }),
  },
  {
    name: 'deployment_heartbeat_interval_seconds',
    type: 'gauge',
    help: 'Time between heartbeats while all is well.',
    write: perDeployment('intervalMs', { unit: SECOND }),
  },
  {
    name: 'deployment_heartbeats_total',
    type: 'counter',
    help: 'Heartbeats sent, whatever came of them.',
    write: perDeployment('attempts'),
  },
  {
    name: 'deployment_heartbeat_failures_total',
    type: 'counter',
    help: 'Heartbeats that were not accepted, by reason.',
    write: writeFailures,
  },
  {
    name: 'deployment_last_heartbeat_success_timestamp_seconds',
    type: 'gauge',
    help: 'When the last accepted heartbeat was sent; 0 before the first.',
    write: perDeployment('lastSuccessAt', { unit: SECOND, unknown: 0 }),
  },
  {
    name: 'deployment_next_heartbeat_timestamp_seconds',
    type: 'gauge',
    help: 'When the next heartbeat is due; absent once there will be none.',
    write: perDeployment('nextBeatAt', { unit: SECOND }),
  },
  {
    name: 'deployment_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'When the deployment expires unless a heartbeat is accepted before; absent without a TTL.',
    write: perDeployment('expiresAt', { unit: SECOND }),
  },
  {
    name: 'deployment_state',
    type: 'gauge',
    help: 'State of the heartbeat: 1 for the current one, 0 for the others.',
    write: writeStates,
  },
  {
    name: 'deployment_min_margin_ratio',
    type: 'gauge',
    help: 'Closest approach to expiry so far: remaining time over TTL, 1 before the first heartbeat was due.',
    write: perDeployment('minMarginRatio'),
  },
  {
    name: 'deployment_lapses_total',
    type: 'counter',
    help: 'How often the TTL passed without an accepted heartbeat.',
    write: perDeployment('lapses'),
  },
];
