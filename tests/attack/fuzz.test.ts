import assert from 'node:assert/strict';
import { Agent } from 'node:https';
import { test } from 'node:test';
import { numbersOf } from '../support/random.ts';
import { recorded, recordedPods } from '../support/reviews.ts';
import { Answers, assertUnharmed, becomeAttacker } from './harness/attack.ts';
import { send } from './harness/connections.ts';
import { startFakeCluster } from './harness/fake-cluster.ts';
import { observe } from './harness/observer.ts';
import { startAttackedServer } from './harness/server.ts';

/** All recorded reviews. Each was sent by a real API server. */
const reviews = [...recordedPods, 'binding-deployment-web'].map((name) => JSON.stringify(recorded(name)));

const paths = ['/mutate', '/gate', '/namespaces'];

const odd: unknown[] = [
  ...[null, true, 0, -1, 1e308, '', ' ', '..', '\u0000', '\u001b]', '\u202e', 'x'.repeat(300)],
  ...[[], {}, [[]], [null], [{}], { '': '' }, { name: null }, { length: 1e9 }, { toString: 1 }],
];

/** A recorded request with a few random changes. */
function fuzzed(random: () => number): { path: string; body: Buffer } {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const review: unknown = JSON.parse(pick(reviews));
  for (let count = Math.floor(random() * 5); count > 0; count--) change(review, random, pick);
  const body = Buffer.from(JSON.stringify(review));
  // overwrites random bytes, so that the body is invalid or different JSON
  if (random() < 0.1) {
    for (let count = 1 + random() * 5; count > 0; count--)
      body[Math.floor(random() * body.length)] = Math.floor(random() * 256);
  }
  return { path: pick(paths), body };
}

/** Replaces, removes or adds a value somewhere in a tree. */
function change(tree: unknown, random: () => number, pick: <T>(from: readonly T[]) => T): void {
  let place = tree as Record<string, unknown>;
  for (let depth = Math.floor(random() * 9); ; depth--) {
    const keys = Object.keys(place);
    const key = keys.length === 0 ? 'x' : pick(keys);
    const value = place[key];
    if (depth > 0 && typeof value === 'object' && value !== null) {
      place = value as Record<string, unknown>;
      continue;
    }
    const chance = random();
    if (chance < 0.2) delete place[key];
    else if (chance < 0.3) place[`${key}${Math.floor(random() * 10)}`] = value;
    else if (chance < 0.4 && Array.isArray(value)) value.push(...value.slice(0, 10));
    else place[key] = structuredClone(pick(odd));
    return;
  }
}

const count = Number(process.env.CNI_GATE_FUZZ_COUNT ?? 20_000);
const seed = Number(process.env.CNI_GATE_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
const connections = 64;

const mean = (values: number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length / 1024 / 1024;

test(`${count.toLocaleString('en')} fuzzed requests over ${connections} connections`, async (t) => {
  t.diagnostic(`CNI_GATE_FUZZ_SEED=${seed}`);
  becomeAttacker();
  const cluster = await startFakeCluster(t);
  const server = await startAttackedServer(t, cluster.url);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  t.after(() => agent.destroy());
  const answers = new Answers();
  const observation = await observe(server);
  const random = numbersOf(seed);
  /** The number of requests that callers have begun. */
  let sent = 0;
  const caller = async (): Promise<void> => {
    while (sent < count) {
      const number = sent++;
      const { path, body } = fuzzed(random);
      const answer = await send(server, path, body, undefined, agent);
      answers.add(answer);
      // this test does not need the fake API server's record of requests, which would grow without limit
      if (number % 1000 === 0) cluster.asked.length = 0;
      if (answer.status >= 500)
        assert.fail(`${path}: ${answer.status} ${answer.body} for ${body.toString()}`);
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: connections }, caller));
  const seconds = (performance.now() - begun) / 1000;
  const observed = await observation.stop();
  t.diagnostic(`${(count / seconds).toFixed(0)} requests a second for ${seconds.toFixed(0)} s`);
  assertUnharmed(t, observed);
  // status 0 means that the server closed the connection while the client was still sending
  answers.onlyOf(t, [0, 200, 400, 413, 429]);
  assert.ok(answers.count(0) < count / 1000, `${answers.count(0)} connections were cut`);
  // compares the third quarter of the run with the fourth
  const { memory } = observed;
  const half = memory.slice(memory.length / 2);
  const [before, after] = [half.slice(0, half.length / 2), half.slice(half.length / 2)].map(mean) as [
    number,
    number,
  ];
  t.diagnostic(
    `memory in the third and the fourth quarter: ${before.toFixed(0)} and ${after.toFixed(0)} MiB on average`,
  );
  assert.ok(after < 1.15 * before, 'the memory grew from the third quarter to the fourth');
});
