// The page's first script, which needs no other: where one of those does not come through, as the network changes or the
// daemon restarts just then, the page is loaded again as soon as the daemon answers.
const AGAIN_MS = 2000;

function again() {
  setTimeout(() => {
    fetch('livez', { signal: AbortSignal.timeout(5000) }).then(() => location.reload(), again);
  }, AGAIN_MS);
}

import('./status.js').catch((error) => {
  // Not of a browser that does not understand them: it never will.
  const isAway = error instanceof TypeError;
  document.getElementById('sentence').textContent = isAway
    ? 'The page did not come through whole. It is loaded again.'
    : `This browser cannot show this page: ${error.message}`;
  if (isAway) again();
});
