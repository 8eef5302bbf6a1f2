import assert from 'node:assert/strict';
import { Agent } from 'node:https';
import { test } from 'node:test';
import { Answers, assertUnharmed, becomeAttacker } from './harness/attack.ts';
import { send } from './harness/connections.ts';
import { startFakeCluster } from './harness/fake-cluster.ts';
import { fuzzed, numbersOf } from './harness/fuzzed.ts';
import { observe } from './harness/observer.ts';
import { startAttackedServer } from './harness/server.ts';

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
  /** How many requests have begun. */
  let sent = 0;
  const caller = async (): Promise<void> => {
    while (sent < count) {
      const number = sent++;
      const { path, body } = fuzzed(random);
      const answer = await send(server, path, body, undefined, agent);
      answers.add(answer);
      // requests to the fake API server do not matter here, so their record is emptied
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
  // status 0 stands for a connection that the server closed while the client was still sending
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
  assert.ok(after < 1.15 * before, 'memory is flat in the last half');
});
