import { native } from './native.ts';

/** What the program waits for: each turn handles one event. */
interface Watch {
  wanted: number;
  act: () => void;
  /** It does not keep the program from ending. */
  idle: boolean;
}

interface Timer {
  at: number;
  act: () => void;
}

const watches = new Map<number, Watch>();
const timers = new Set<Timer>();
/** What happened, and was not handled yet. */
const ready: (() => void)[] = [];
/** A program that stood still for so long, in milliseconds, may have missed what it waited for. */
const longestStall = 1000;

/** The last such time: the program took so long from one poll to the next, or slept too long. */
let stall = { length: 0, end: 0 };
let resumed = 0;
let onDefect = (error: unknown): void => {
  throw error;
};

export function handleDefects(act: (error: unknown) => void): void {
  onDefect = act;
}

/** Calls a function each time when something happens to a descriptor. @param wanted see `pollEvent` */
export function watch(descriptor: number, wanted: number, act: () => void, idle = false): void {
  watches.set(descriptor, { wanted, act, idle });
}

/** Whether something happens to a descriptor within a number of milliseconds. */
export function eventOf(descriptor: number, wanted: number, milliseconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (result: boolean): void => {
      forget();
      unwatch(descriptor);
      resolve(result);
    };
    const forget = after(milliseconds, () => settle(false));
    watch(descriptor, wanted, () => settle(true));
  });
}

/** Forgets a descriptor, which stays open. */
export function unwatch(descriptor: number): void {
  watches.delete(descriptor);
}

/** Forgets a descriptor, and closes it. */
export function close(descriptor: number): void {
  unwatch(descriptor);
  native.close(descriptor);
}

/** Calls a function after a number of milliseconds. Returns a function that prevents it. */
export function after(milliseconds: number, act: () => void): () => void {
  const timer = { at: native.now() + milliseconds, act };
  timers.add(timer);
  return () => {
    timers.delete(timer);
  };
}

/** Milliseconds since the process started, on a monotonic clock. */
export const now = (): number => native.now();

/** Resolves after a number of milliseconds; with 0, after what the kernel has ready was handled. */
export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    after(milliseconds, resolve);
  });

/** How long the program stood still since a time; 0 if for less than {@link longestStall}. */
export function stallSince(start: number): number {
  const lengths = [stall, { length: native.now() - resumed, end: native.now() }].map(({ length, end }) =>
    Math.min(length, end - start),
  );
  const longest = Math.max(...lengths);
  return longest < longestStall ? 0 : longest;
}

/** Handles one event; waits for one if there is none. */
export function turn(): void {
  try {
    if (ready.length === 0) gather();
    ready.shift()?.();
  } catch (error) {
    onDefect(error);
  }
}

/** Makes ready what a poll returns, then due timers: an answer precedes the time-out that it came in. */
function gather(): void {
  const descriptors = [...watches.keys()];
  const busy = timers.size > 0 || [...watches.values()].some(({ idle }) => !idle);
  if (!busy) throw new Error('there is nothing left to wait for, and no verdict');
  const wait = patience();
  const begun = native.now();
  const seen = native.poll(
    descriptors,
    [...watches.values()].map(({ wanted }) => wanted),
    wait,
  );
  const length = Math.max(begun - resumed, wait < 0 ? 0 : native.now() - begun - wait);
  resumed = native.now();
  if (length >= longestStall) stall = { length, end: resumed };
  for (const [index, descriptor] of descriptors.entries()) {
    const watched = watches.get(descriptor);
    if (seen[index] === 0 || watched === undefined) continue;
    ready.push(() => {
      if (watches.get(descriptor) === watched) watched.act();
    });
  }
  for (const timer of dueTimers()) {
    ready.push(() => {
      if (timers.delete(timer)) timer.act();
    });
  }
}

/** How long a poll may wait, in milliseconds. */
function patience(): number {
  const next = Math.min(...[...timers].map(({ at }) => at));
  // a whole number, not earlier than the timer
  return next === Infinity ? -1 : Math.max(Math.ceil(next - native.now()), 0);
}

function dueTimers(): Timer[] {
  const now = native.now();
  return [...timers].filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
}
