/** Makes work of a size, with everything that it needs: only the work itself is timed. */
export type Work = (size: number) => () => unknown;

/** Work of at least this long is measured, in milliseconds: a kernel may count the time of a thread in steps of 4. */
const measurable = 20;

/** Each is four times the one before. */
const sizes = [1000, 4000, 16_000, 64_000] as const;

const runs = 3;
const warmUps = 5;

/** The best of several runs, in milliseconds of this thread alone: what else the machine does is not in it. */
function best(work: Work, size: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run += 1) {
    const prepared = work(size);
    const before = process.threadCpuUsage();
    prepared();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
    // work that is far too slow is not repeated
    if (least > 1000) return least;
  }
  return least;
}

/**
 * How many times longer work takes on an input four times as large: 4 where it is linear, 16 where it is quadratic.
 * 0 where the largest input is done before there is anything to measure, as where texts are cut first.
 */
export function growth(work: Work): number {
  // code that is not compiled yet is slow, which would hide how much slower it becomes
  for (let run = 0; run < warmUps; run += 1) work(sizes[0])();
  let before = 0;
  for (const size of sizes) {
    const time = best(work, size);
    if (before >= measurable) return time / before;
    before = time;
  }
  return 0;
}
