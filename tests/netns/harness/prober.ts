import { connect } from 'node:net';

/**
 * Connects to the target in its argument repeatedly. At the end of its standard input, or after `count` attempts,
 * prints the number of attempts with each result, and the longest run of attempts without a connection. With `keep`,
 * the connections stay open.
 */
interface Target {
  host: string;
  port: number;
  /** Milliseconds between two connections. */
  every: number;
  count?: number;
  keep?: boolean;
}
const { host, port, every, count = Infinity, keep }: Target = JSON.parse(process.argv[2] ?? '');

const results: Record<string, number> = {};
let inRow = 0;
let mostInRow = 0;
let begun = 0;
let ended = 0;
const finish = (): void => {
  process.stdout.write(`${JSON.stringify({ results, mostInRow })}\n`);
  if (!keep) process.stdout.end(() => process.exit());
};
const dial = (): void => {
  if (begun === count) return;
  begun += 1;
  const socket = connect({ host, port });
  const tell = (result: string): void => {
    socket.removeAllListeners('connect').setTimeout(0);
    if (!keep) socket.destroy();
    results[result] = (results[result] ?? 0) + 1;
    inRow = result === 'open' ? 0 : inRow + 1;
    mostInRow = Math.max(mostInRow, inRow);
    ended += 1;
    if (ended === count) finish();
  };
  socket.setTimeout(1000, () => tell('silence'));
  socket.on('connect', () => tell('open'));
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (socket.listenerCount('connect') > 0) tell(error.code ?? '');
  });
};
// several at a time, because a timer fires at most every millisecond
setInterval(() => {
  for (let index = 0; index < (every < 1 ? 1 / every : 1); index++) dial();
}, every);
process.stdin.on('end', finish).resume();
