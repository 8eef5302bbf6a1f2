/** A kernel that the tests play, under the validator's own event loop. Import it before anything of the validator. */
export const kernel = {
  /** The clock, in milliseconds: it moves while the loop waits. */
  now: 0,
  /** How long each poll might wait. */
  polls: [] as number[],
  /** What happened to a descriptor: see `pollEvent`. */
  happened: (_descriptor: number, _wanted: number): number => 0,
};

/** What a test does not replace is not there. */
export const native: Record<string, unknown> = {
  now: () => kernel.now,
  poll: (descriptors: number[], wanted: number[], milliseconds: number) => {
    kernel.polls.push(milliseconds);
    if (milliseconds > 0) kernel.now += milliseconds;
    return descriptors.map((descriptor, index) => kernel.happened(descriptor, wanted[index] ?? 0));
  },
  close: () => {},
  interfaces: () => [],
};
Object.assign(globalThis, { native });
const { turn } = await import('../../../validator/host/loop.ts');

/** So many turns of the loop, each with what its promises lead to, as the host does it. */
export async function turns(count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    turn();
    await new Promise(setImmediate);
  }
}

/** Turns of the loop until a promise is settled, at most two minutes of the clock. */
export async function settled<Result>(promise: Promise<Result>): Promise<Result> {
  const start = kernel.now;
  let over = false;
  const waiting = promise.finally(() => {
    over = true;
  });
  waiting.catch(() => {});
  await new Promise(setImmediate);
  while (!over) {
    if (kernel.now - start > 120_000) throw new Error('it does not end');
    await turns(1);
  }
  return waiting;
}
