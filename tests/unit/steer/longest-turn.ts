/**
 * Measures the longest turn of the event loop in CPU time of this thread, so that other processes do not disturb the
 * measurement.
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
