import { ago, byId, cards, element, facts, heading } from './status-dom.js';
import { deploymentTone } from './status-summary.js';
import { clockTime, deploymentName, plural, seconds } from './status-words.js';

const ANSWERED = new Set(['accepted', 'superseded']);

export function drawDeployments(deployments) {
  cards(byId('deployments'), deployments, {
    key: (deployment) => deployment.deployment_id,
    label: (deployment) => `Deployment ${deploymentName(deployment)}`,
    tone: deploymentTone,
    draw: deploymentCard,
    none: 'None configured (PILOTLIGHT_DEPLOYMENTS).',
  });
}

function deploymentCard(deployment) {
  const { ttl_seconds: ttl, min_margin_ratio: margin } = deployment;
  const tone = deploymentTone(deployment);
  return [
    heading(`Deployment ${deploymentName(deployment)}`, tone, deployment.state),
    ...remaining(deployment, tone),
    facts(
      ['Last accepted', ago(deployment.last_success_at)],
      [
        'Heartbeat',
        `every ${seconds(deployment.interval_seconds)}, ${deployment.heartbeats.toLocaleString('en')} sent`,
      ],
      ['Closest call', margin === null ? '—' : `${Math.round(margin * 100)}% of ${seconds(ttl)} left`],
      ['Lapses', String(deployment.lapses)],
    ),
    ...lastFailure(deployment, tone === 'good' ? 'quiet' : tone),
    beats(deployment.last_heartbeats),
  ];
}

function lastFailure({ last_error: error, last_error_at: at }, tone) {
  return error ? [element('p', { class: `note ${tone}` }, 'Last failure ', ago(at), `: ${error}`)] : [];
}

function remaining(deployment, tone) {
  const { ttl_seconds: ttl, expires_at: expires } = deployment;
  if (expires === null || ttl === null) {
    const known = ttl === null ? 'TTL not known' : `of ${seconds(ttl)}, not yet accepted`;
    return [element('p', { class: 'large' }, '— ', element('small', {}, known))];
  }
  const meter = {
    class: `bar ${tone}`,
    role: 'meter',
    'aria-label': `Remaining TTL of deployment ${deploymentName(deployment)}`,
    'aria-valuemin': '0',
    'aria-valuemax': String(ttl),
    'aria-valuenow': '0',
    'data-expires': String(expires),
    'data-ttl': String(ttl),
  };
  const left = element('span', { 'data-remaining': String(expires) });
  return [
    element('p', { class: 'large' }, left, element('small', {}, ` left of ${seconds(ttl)}`)),
    element('div', meter, element('span')),
  ];
}

/** A slow heartbeat has a high bar. */
function beats(list) {
  const slowest = Math.max(1, ...list.map(({ latency_ms: latency }) => latency ?? 0));
  const failed = list.filter(({ outcome }) => !ANSWERED.has(outcome) && outcome !== 'waiting').length;
  return element(
    'ol',
    { class: 'beats', 'aria-label': `Last ${plural(list.length, 'heartbeat')}, ${failed} failed` },
    ...list.map(({ outcome, at, latency_ms: latency }) => {
      const tone = ANSWERED.has(outcome) ? 'good' : outcome === 'waiting' ? 'waiting' : 'bad';
      const took = latency === null ? '' : `, ${Math.round(latency)} ms`;
      const bar = element('li', { class: tone, title: `${clockTime(at)}: ${outcome}${took}` });
      bar.style.height = `${tone === 'bad' ? 100 : 25 + (60 * (latency ?? 0)) / slowest}%`;
      return bar;
    }),
  );
}
