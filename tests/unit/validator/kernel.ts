/** A simulated kernel for the validator's event loop. Import this module before any module of the validator. */
export const kernel = {
  /** The time in milliseconds, which advances while the loop waits. */
  now: 0,
  /** The time-out of each poll, in milliseconds. */
  polls: [] as number[],
  /** Returns what happened to a descriptor: see `pollEvent`. */
  happened: (_descriptor: number, _wanted: number): number => 0,
};

/** The host's functions. Only those exist that are set here or by a test. */
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

/** Runs iterations of the event loop. As in the host, each ends with the callbacks of settled promises. */
export async function turns(count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    turn();
    await new Promise(setImmediate);
  }
}

/** Runs the event loop until a promise is settled, for at most two minutes of the simulated clock. */
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
