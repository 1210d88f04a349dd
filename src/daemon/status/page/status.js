import { ask, followLinks, tokenGiven, TokenNeeded } from './status-access.js';
import { drawDeployments, drawEndpointGroups, drawLogs, drawSinks, drawWatches } from './status-cards.js';
import { byId, element, quiet } from './status-dom.js';
import { plural, seconds } from './status-words.js';
import { noEndpoints, summaryOf } from './status-summary.js';

const POLL_MS = 2000;
const DRAW_MS = 250;

let status;
let fetchedAt = 0;

async function poll() {
  try {
    const response = await ask('api/status', AbortSignal.timeout(5000));
    status = await response.json();
    fetchedAt = performance.now();
    drawAll();
  } catch (error) {
    if (error instanceof TokenNeeded) {
      drawSummary({ tone: 'waiting', sentence: 'This page needs a token.', troubles: [] });
      await tokenGiven(error);
      void poll();
      return;
    }
    drawSilence(error);
  }
  setTimeout(() => void poll(), POLL_MS);
}

function drawSilence({ message }) {
  drawSummary({
    tone: 'bad',
    sentence: 'The daemon does not answer.',
    troubles: [
      `${message}. The figures below may be old.`,
      'Heartbeats may go on. Another process sends them, and writes about them on stderr.',
    ],
  });
}

/** By the daemon's clock: the viewer's may be wrong. */
function now() {
  return status.now + (performance.now() - fetchedAt) / 1000;
}

function drawAll() {
  drawSummary(summaryOf(status, now()));
  const { daemon_restarts: restarts } = status.heart;
  byId('process').textContent =
    `${status.service.base_url} · version ${status.version} · up ${seconds(now() - status.started_at)}` +
    (restarts > 0 ? `, after ${plural(restarts, 'restart')}` : '');
  drawDeployments(status);
  drawFleet(status);
  drawLogs(status);
  drawSinks(status);
  drawEndpointGroups(status.endpoint_groups);
  drawWatches(status, now());
  drawMoving();
}

let endpoints;

/** The scripts of endpoints are loaded with the first one. */
function drawFleet({ fleet, replica }) {
  byId('endpoints-shown').hidden = fleet.endpoints.length === 0;
  if (fleet.endpoints.length === 0) {
    byId('endpoints').replaceChildren(quiet(noEndpoints({ fleet, replica })));
    return;
  }
  endpoints ??= import('./endpoints.js');
  endpoints.then(
    ({ drawEndpoints }) => drawEndpoints(status.fleet, now()),
    () => {
      endpoints = undefined; // The daemon has just gone: it is tried again.
    },
  );
}

/** A screen reader repeats the text at each change, so an equal one is not set again. */
function drawSummary({ tone, sentence, troubles }) {
  const state = JSON.stringify([tone, sentence, troubles]);
  const panel = byId('verdict');
  if (panel.dataset.state === state) return;
  panel.dataset.state = state;
  panel.className = tone;
  byId('sentence').textContent = sentence;
  byId('troubles').replaceChildren(...troubles.map((text) => element('li', {}, text)));
  document.title = `${tone === 'good' ? '' : '! '}Pilotlight`;
}

/** What moves between two polls: bars and countdowns. */
function drawMoving() {
  if (!status) return;
  const until = (at) => Math.max(0, Number(at) - now());
  for (const bar of document.querySelectorAll('.bar')) {
    const left = until(bar.dataset.expires);
    bar.firstElementChild.style.transform = `scaleX(${Math.min(1, left / Number(bar.dataset.ttl))})`;
    bar.setAttribute('aria-valuenow', left.toFixed(0));
    bar.setAttribute('aria-valuetext', `${seconds(left)} left`);
  }
  relabel('until', (at) => seconds(until(at)));
  relabel('ago', (at) => `${seconds(Math.max(0, now() - Number(at)))} ago`);
}

function relabel(name, words) {
  for (const label of document.querySelectorAll(`[data-${name}]`))
    label.textContent = words(label.dataset[name]);
}

followLinks(drawSilence);
void poll();
setInterval(drawMoving, DRAW_MS);
