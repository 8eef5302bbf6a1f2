/** @typedef {import('../model.ts').Dashboard} Dashboard */

/** Milliseconds between two questions to the server. */
const interval = 1500;

/**
 * The data in this file; undefined where the page is served.
 *
 * @returns {Dashboard | undefined}
 */
export function dataInFile() {
  const element = document.getElementById('data');
  return element === null ? undefined : JSON.parse(element.textContent ?? '');
}

/**
 * Asks the server for its data again and again, while the page is visible.
 *
 * @param {string} token
 * @param {{ onData: (dashboard: Dashboard) => void, onSame: (time: string) => void, onTrouble: (text: string) => void }} handlers
 */
export async function follow(token, { onData, onSame, onTrouble }) {
  let tag = '';
  for (;;) {
    if (document.hidden) await visible();
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
      if (response.status === 304) onSame(response.headers.get('x-data-time') ?? '');
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

const visible = () =>
  new Promise((resolve) => {
    const look = () => {
      if (document.hidden) return;
      document.removeEventListener('visibilitychange', look);
      resolve(undefined);
    };
    document.addEventListener('visibilitychange', look);
  });
