// This script imports none statically: if another fails to load, the page reloads when the daemon answers.
const AGAIN_MS = 2000;

function again() {
  setTimeout(() => {
    fetch('livez', { signal: AbortSignal.timeout(5000) }).then(() => location.reload(), again);
  }, AGAIN_MS);
}

import('./status.js').catch((error) => {
  // A browser that does not understand the scripts never will.
  const isAway = error instanceof TypeError;
  document.getElementById('sentence').textContent = isAway
    ? 'The page did not come through whole. It is loaded again.'
    : `This browser cannot show this page: ${error.message}`;
  if (isAway) again();
});
