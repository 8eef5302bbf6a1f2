import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { HostileCluster } from '../../support/hostile-cluster.ts';
import type { Answer } from './connections.ts';
import { ControlGroup, containerMemory } from './control-group.ts';
import { directInnocents, type Innocents } from './direct-innocents.ts';
import { type Objects, startFakeCluster } from './fake-cluster.ts';
import { type Observed, observe } from './observer.ts';
import { type AttackedServer, startAttackedServer } from './server.ts';

const MiB = 1024 * 1024;

/** The control group of this process, the attacker. Its share of processor time is a quarter of the server's. */
let attackers: ControlGroup | undefined;

/** How long an attack lasts, in milliseconds. `CNI_GATE_ATTACK_SECONDS` sets another duration. */
export const duration = 1000 * Number(process.env.CNI_GATE_ATTACK_SECONDS ?? 4);

/** The maximum memory use in bytes: 80 % of the container's limit. */
const mostMemory = 0.8 * containerMemory;
/** The longest time, in milliseconds, for which the server's event loop may be blocked. */
const mostBlocked = 200;
const innocents = 500;

/** Asserts that the server stayed within its limits, and that all ordinary calls succeeded. */
export function assertUnharmed(
  t: TestContext,
  { alive, killed, peak, blocked, starved, samples }: Observed,
  innocent?: Innocents,
): void {
  t.diagnostic(
    `${inMiB(peak)}, blocked ${blocked.toFixed(0)} ms (${starved.toFixed(0)} without a processor)`,
  );
  const faults: string[] = [];
  if (!alive) faults.push(`the server is gone${killed > 0 ? ': out of memory' : ''}`);
  if (samples < 4) faults.push(`only ${samples} samples`);
  if (peak >= mostMemory) faults.push(`${inMiB(peak)} of memory, at most ${inMiB(mostMemory)}`);
  if (blocked - starved >= mostBlocked) faults.push(`blocked for ${blocked.toFixed(0)} ms`);
  if (innocent) {
    const { count, failed, took, retries } = innocent;
    const done = `${count - failed.length} of ${count} innocents`;
    t.diagnostic(`${done}, p99 ${p99(took).toFixed(0)} ms, ${retries} retries`);
    if (count < innocents) faults.push(`only ${count} innocents`);
    if (failed.length > 0) faults.push(`${done}: ${shortened(failed)}`);
  }
  assert.deepEqual(faults, []);
}

/** The 99th percentile. */
const p99 = (values: number[]): number =>
  values.toSorted((one, other) => one - other)[Math.ceil(values.length * 0.99) - 1] ?? Number.NaN;

const inMiB = (bytes: number): string => `${(bytes / MiB).toFixed(0)} MiB`;

/** Moves this process into the attackers' control group, once. The server, observer and callers have other groups. */
export function becomeAttacker(): void {
  if (attackers) return;
  attackers = new ControlGroup('attacker', { shares: 16 });
  attackers.join();
}

/** The first three different failures, each cut to 200 characters, with their counts. */
function shortened(failed: string[]): string {
  const counts = new Map<string, number>();
  for (const text of failed) counts.set(text.slice(0, 200), (counts.get(text.slice(0, 200)) ?? 0) + 1);
  return [...counts]
    .slice(0, 3)
    .map(([text, count]) => `${count} × ${text}`)
    .join('; ');
}

/** Counts the answers to hostile calls by status. Status 0 means that the connection was cut. */
export class Answers {
  readonly #counts = new Map<number, number>();

  add({ status }: Answer): void {
    this.#counts.set(status, (this.#counts.get(status) ?? 0) + 1);
  }

  count(status: number): number {
    return this.#counts.get(status) ?? 0;
  }

  onlyOf(t: TestContext, statuses: number[]): void {
    const all = [...this.#counts].toSorted(([one], [other]) => one - other);
    t.diagnostic(`answers: ${all.map(([status, times]) => `${times} × ${status}`).join(', ')}`);
    assert.ok(all.length > 0, 'there were no answers');
    assert.deepEqual(
      all.filter(([status]) => !statuses.includes(status)),
      [],
    );
  }
}

export interface Attacked {
  server: AttackedServer;
  cluster: HostileCluster;
  /** Aborted when all ordinary calls are done, so that the attack ends. */
  signal: AbortSignal;
}

/** Attacks a server while ordinary callers (innocents) use it, and asserts its limits. @param attack ends on abort */
export async function underAttack(
  t: TestContext,
  attack: (attacked: Attacked) => Promise<void>,
  { over = duration, objects }: { over?: number; objects?: Objects } = {},
): Promise<Attacked & { innocent: Innocents }> {
  becomeAttacker();
  const cluster = await startFakeCluster(t, objects);
  const server = await startAttackedServer(t, cluster.url);
  const over$ = new AbortController();
  const attacked = { server, cluster, signal: over$.signal };
  const observation = await observe(server);
  const attacking = attack(attacked);
  const innocent = await directInnocents(server, { count: innocents, over });
  over$.abort();
  await attacking;
  const observed = await observation.stop();
  assertUnharmed(t, observed, innocent);
  return { ...attacked, innocent };
}
