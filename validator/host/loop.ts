import { native } from './native.ts';

/** A descriptor for whose events the program waits. */
interface Watch {
  wanted: number;
  act: () => void;
  /** Whether the program may end although this watch remains. */
  idle: boolean;
}

interface Timer {
  at: number;
  act: () => void;
}

const watches = new Map<number, Watch>();
const timers = new Set<Timer>();
/** The functions to call for events that have already happened. */
const ready: (() => void)[] = [];
/** After a stall of this many milliseconds, the program may have missed the events that it waits for. */
const longestStall = 1000;

/** The last stall: the time between two polls was too long, or a poll lasted longer than requested. */
let stall = { length: 0, end: 0 };
let resumed = 0;
let onDefect = (error: unknown): void => {
  throw error;
};

export function handleDefects(act: (error: unknown) => void): void {
  onDefect = act;
}

/** Calls a function whenever an event happens on a descriptor. @param wanted the events, see `pollEvent` */
export function watch(descriptor: number, wanted: number, act: () => void, idle = false): void {
  watches.set(descriptor, { wanted, act, idle });
}

/** Whether one of the wanted events happens on a descriptor within this many milliseconds. */
export function eventOf(descriptor: number, wanted: number, milliseconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (result: boolean): void => {
      forget();
      watches.delete(descriptor);
      resolve(result);
    };
    const forget = after(milliseconds, () => settle(false));
    watch(descriptor, wanted, () => settle(true));
  });
}

/** Stops watching a descriptor, and closes it. */
export function close(descriptor: number): void {
  watches.delete(descriptor);
  native.close(descriptor);
}

/** Calls a function after this many milliseconds. Returns a function that cancels the call. */
export function after(milliseconds: number, act: () => void): () => void {
  const timer = { at: native.now() + milliseconds, act };
  timers.add(timer);
  return () => {
    timers.delete(timer);
  };
}

/** Milliseconds since the process started, on a monotonic clock. */
export const now = (): number => native.now();

/** Resolves after this many milliseconds; with 0, after the events that are already pending. */
export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    after(milliseconds, resolve);
  });

/** How many milliseconds the program has stalled since a time; 0 if less than {@link longestStall}. */
export function stallSince(start: number): number {
  const lengths = [stall, { length: native.now() - resumed, end: native.now() }].map(({ length, end }) =>
    Math.min(length, end - start),
  );
  const longest = Math.max(...lengths);
  return longest < longestStall ? 0 : longest;
}

/** Handles one event; if there is none, waits first. */
export function turn(): void {
  try {
    if (ready.length === 0) gather();
    ready.shift()?.();
  } catch (error) {
    onDefect(error);
  }
}

/** Queues the events of a poll before the timers that are due, so that an answer takes precedence over its time-out. */
function gather(): void {
  const descriptors = [...watches.keys()];
  const busy = timers.size > 0 || [...watches.values()].some(({ idle }) => !idle);
  if (!busy) throw new Error('there is nothing left to wait for, and no verdict');
  const next = Math.min(...[...timers].map(({ at }) => at));
  // rounded up, so that the poll does not end before the timer is due
  const wait = next === Infinity ? -1 : Math.max(Math.ceil(next - native.now()), 0);
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
  const due = [...timers].filter(({ at }) => at <= resumed).sort((a, b) => a.at - b.at);
  for (const timer of due) {
    ready.push(() => {
      if (timers.delete(timer)) timer.act();
    });
  }
}
