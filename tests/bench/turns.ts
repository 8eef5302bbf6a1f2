import { type Figures, load, median, type Target } from './load.ts';
import type { Row } from './report/figures.ts';

export const rounds = 9;
/** In seconds: V8 compiles what runs often, which takes processor time of its own. */
export const warmUp = 4;

/** The figures of each round, by the server's name. */
export type Rounds = ReadonlyMap<string, Figures[]>;

/** Loads servers in turns, each for some seconds of a round. */
export async function inTurns(
  servers: ReadonlyMap<string, Target>,
  body: string,
  seconds: number,
): Promise<Rounds> {
  const all = new Map([...servers.keys()].map((name): [string, Figures[]] => [name, []]));
  for (const server of servers.values()) await load(server, body, warmUp);
  for (let round = 1; round <= rounds; round++) {
    const line: string[] = [];
    for (const [name, server] of servers) {
      const one = await load(server, body, seconds);
      all.get(name)?.push(one);
      const { rate, p99, peak } = one;
      line.push(`${name} ${rate.toFixed(0)}/s p99 ${p99.toFixed(1)} ms peak ${peak.toFixed(0)} MiB`);
    }
    console.log(`round ${round}: ${line.join('   ')}`);
  }
  return all;
}

const rates = (all: Rounds, name: string): number[] => all.get(name)?.map(({ rate }) => rate) ?? [];

/** The median, over the rounds, of one server's rate beside that of another. */
export const ratio = (all: Rounds, name: string, other: string): number =>
  median(rates(all, name).map((rate, round) => rate / (rates(all, other)[round] ?? Number.NaN)));

/** Rate and memory of each server. */
export function serverRows(all: Rounds, conditions: string, ofMemory = conditions): Row[] {
  const names = [...all.keys()];
  return [
    ...names.map((name) => ({
      figure: `${name}: admissions`,
      conditions,
      measured: median(rates(all, name)),
      unit: 'per second of processor time',
    })),
    ...names.map((name) => ({
      figure: `${name}: most resident memory`,
      conditions: ofMemory,
      measured: all.get(name)?.at(-1)?.peak ?? Number.NaN,
      unit: 'MiB',
    })),
  ];
}
