import { byId } from './dom.js';
import { tablesOf } from './rows.js';
import { dataInFile, follow } from './source.js';
import { drawTables } from './tables.js';
import { moment } from './time.js';

/** @typedef {import('../server.ts').Dashboard} Dashboard */

/** @type {Dashboard | undefined} */
let shown;
const filter = /** @type {HTMLInputElement} */ (byId('filter'));

/** A file shows ages as of its own time. */
const file = dataInFile();
const now = () => (file === undefined ? Date.now() : Date.parse(file.time));

function drawRows() {
  if (shown !== undefined) drawTables(tablesOf(shown, now()), filter.value);
}

/** @param {Dashboard} next */
function show(next) {
  const began = performance.now();
  shown = next;
  const { context, server, clientVersion, serverVersion } = next.cluster;
  document.title = `${next.verdict === 'well' ? '' : '● '}cni-gate: ${context ?? server}`;
  byId('cluster').textContent = [
    context === null ? server : `${context} (${server})`,
    `client ${clientVersion}, server ${serverVersion ?? 'not known'}`,
    ...(next.namespace === null ? [] : [`namespace ${next.namespace}`]),
  ].join(' · ');
  byId('verdict').textContent = next.headline;
  byId('verdict').dataset.verdict = next.verdict;
  drawRows();
  performance.measure('show', { start: began, end: performance.now() });
}

/** @param {string} freshness @param {string | null} trouble */
function tell(freshness, trouble) {
  byId('freshness').textContent = freshness;
  const element = byId('trouble');
  if (element.textContent !== (trouble ?? '')) element.textContent = trouble ?? '';
  element.hidden = trouble === null;
}

const tellFresh = () => {
  const stale = shown?.stale ?? null;
  tell('live', stale === null ? null : `The data may be old: ${stale}`);
};

filter.addEventListener('input', drawRows);

if (file !== undefined) {
  show(file);
  tell(`as of ${moment(file.time)}`, null);
} else {
  const token = /^#token=([\w-]+)$/.exec(location.hash)?.[1] ?? '';
  follow(token, {
    onData: (next) => {
      show(next);
      tellFresh();
    },
    onSame: tellFresh,
    onTrouble: (text) => tell(shown === undefined ? 'no data' : `as of ${moment(shown.time)}`, text),
  });
  // ages go on
  setInterval(drawRows, 30_000);
}
