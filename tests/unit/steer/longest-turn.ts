/**
 * Measures for how long the event loop was busy with one turn at most, by the CPU time of this thread: a machine on
 * which others work as well says nothing about us.
 */
export function longestTurn(): { stop(): { milliseconds: number; turns: number } } {
  let [last, longest, turns, over] = [cpuTime(), 0, 0, false];
  const poll = (): void => {
    const now = cpuTime();
    longest = Math.max(longest, now - last);
    last = now;
    turns += 1;
    if (!over) setImmediate(poll);
  };
  setImmediate(poll);
  return {
    stop: () => {
      over = true;
      return { milliseconds: longest, turns };
    },
  };
}

/** Milliseconds. */
function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
