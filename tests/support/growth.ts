/** Makes work of a size, with everything that it needs: only the work itself is timed. */
export type Work = (size: number) => () => unknown;

/** Work of at least this long is measured, in milliseconds: a kernel may count the time of a thread in steps of 4. */
const measurable = 20;

const sizes = [250, 1000, 4000, 16_000, 64_000] as const;

const runs = 3;
const warmUps = 10;

/** Growth that is linear beyond doubt: a larger input is not worked on again to be sure. */
const surelyLinear = 6;

/** Growth at which one attempt is enough: quadratic work does not come near it. */
const clear = 8;

/** How long work takes, in milliseconds of this thread alone: what else the machine does is not in it. */
function timed(work: Work, size: number): number {
  const prepared = work(size);
  const before = process.threadCpuUsage();
  prepared();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** The best of some runs; ends as soon as one is good enough. Work that is far too slow is not repeated. */
function best(work: Work, size: number, enough = 0): number {
  let least = timed(work, size);
  for (let run = 1; run < runs && least > enough && least <= 1000; run += 1) {
    least = Math.min(least, timed(work, size));
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
  for (const size of sizes.slice(0, -1)) {
    // twice: the first run of a size may be the one that is compiled
    if (timed(work, size) < measurable || timed(work, size) < measurable) continue;
    const before = best(work, size);
    if (before >= measurable) return best(work, 4 * size, surelyLinear * before) / before;
  }
  return 0;
}

/** The growth of the first attempt where that is clear, else the median of five: on a busy machine each is noisy. */
export function typicalGrowth(work: Work): number {
  const first = growth(work);
  if (first <= clear) return first;
  const five = [first, growth(work), growth(work), growth(work), growth(work)];
  return five.toSorted((a, b) => a - b)[2] ?? first;
}
