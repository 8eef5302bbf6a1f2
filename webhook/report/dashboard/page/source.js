/** @typedef {import('../server.ts').Dashboard} Dashboard */

/** Milliseconds between two requests to the server. */
const interval = 1500;

/**
 * The data in this file; undefined if the page is served.
 *
 * @returns {Dashboard | undefined}
 */
export function dataInFile() {
  const element = document.getElementById('data');
  return element === null ? undefined : JSON.parse(element.textContent ?? '');
}

/**
 * Requests the data from the server again and again.
 *
 * @param {string} token
 * @param {{ onData: (dashboard: Dashboard) => void, onSame: () => void, onTrouble: (text: string) => void }} handlers
 */
export async function follow(token, { onData, onSame, onTrouble }) {
  let tag = '';
  for (;;) {
    try {
      const response = await fetch('data', {
        cache: 'no-store',
        headers: { authorization: `Bearer ${token}`, ...(tag && { 'if-none-match': tag }) },
      });
      if (response.status === 401) {
        onTrouble(
          'The token of this page is missing or is an older one: open the address that cni-gate dashboard printed.',
        );
        return;
      }
      if (response.status === 304) onSame();
      else if (!response.ok) onTrouble(`cni-gate dashboard answered with ${response.status}.`);
      else {
        tag = response.headers.get('etag') ?? '';
        onData(await response.json());
      }
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      onTrouble(
        'cni-gate dashboard does not answer. Is it still running? This page shows what it knew last.',
      );
    }
    await new Promise((resolve) => setTimeout(resolve, interval));
  }
}
