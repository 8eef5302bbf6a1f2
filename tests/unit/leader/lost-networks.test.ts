import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import { after, before, mock, suite, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PodEvidence, Unready } from '../../../webhook/core/facts/pod-evidence.ts';
import { Evidence } from '../../../webhook/core/networks/evidence.ts';
import { watchEvidence } from '../../../webhook/leader/duplicate-addresses.ts';
import { evidencePod, now } from '../core/networks/pods.ts';
import { eventQueue, switchedLead } from './scene.ts';

/** Starts a leader in a cluster with pod `a`. `shows` reports, as a watch does, whether the pod is ready. */
function scene(t: TestContext, capacity = 200) {
  const evidence = new Evidence();
  evidence.markSynced();
  const { written, queue: events } = eventQueue(capacity);
  const { leader } = switchedLead();
  let version = 1;
  const shows = (isReady: boolean, more: Partial<PodEvidence> = {}): void => {
    version += 1;
    const unready: Unready = { run: 1, at: Date.now(), shownBy: String(version), patience: 10_000 };
    const pod = evidencePod('a', { version: String(version), ...(!isReady && { unready }), ...more });
    evidence.apply([{ type: 'put', pod, listed: false }], Date.now());
  };
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      mock.timers.tick(1000);
      await nextTurn();
    }
  };
  const ended = new AbortController();
  const over = watchEvidence({ view: { evidence }, leader, events }, ended.signal);
  t.after(() => {
    ended.abort();
    return over;
  });
  shows(true);
  return { shows, pass, leader, written, reasons: (): string[] => written.map(({ reason }) => reason) };
}

suite('the events about lost networks', () => {
  before(() => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now });
    // modules that have already imported the timers must get the mocked ones too
    syncBuiltinESMExports();
  });
  // other test files run in the same process, and need the real timers
  after(() => {
    mock.timers.reset();
    syncBuiltinESMExports();
  });

  test('a network that is lost and recovers: one event each, on the pod, for each loss', async (t) => {
    const { shows, pass, written, reasons } = scene(t);
    shows(false);
    await pass(9);
    assert.deepEqual(reasons(), []);
    await pass(30);
    shows(false);
    await pass(30);
    assert.deepEqual(reasons(), ['NetworkLost']);
    shows(true);
    await pass(60);
    assert.deepEqual(reasons(), ['NetworkLost', 'NetworkRecovered']);
    const [lost, recovered] = written;
    assert.deepEqual([lost?.type, recovered?.type], ['Warning', 'Normal']);
    assert.deepEqual([lost?.regarding.kind, lost?.regarding.name, lost?.node], ['Pod', 'a', 'node-of-a']);
    assert.match(lost?.note ?? '', /kubectl -n shop logs a -c cni-gate-validator$/);
    shows(false);
    await pass(60);
    shows(true);
    assert.deepEqual(reasons().slice(2), ['NetworkLost', 'NetworkRecovered'], 'the next loss');
  });

  test('a loss that ends before the next comparison has both events', async (t) => {
    const { shows, pass, reasons } = scene(t);
    await pass(4);
    shows(false);
    await pass(10);
    shows(true);
    assert.deepEqual(reasons(), ['NetworkLost', 'NetworkRecovered']);
  });

  test('no event: the pod was briefly unready, is being deleted, or gets a new sandbox', async (t) => {
    const { shows, pass, reasons } = scene(t);
    shows(false);
    await pass(9);
    shows(true);
    assert.deepEqual(reasons(), []);
    for (const more of [{ leaving: true }, { ended: true }, { verdict: 'waiting' as const }]) {
      shows(false);
      await pass(20);
      shows(true, more);
      assert.equal(reasons().at(-1), 'NetworkLost');
      shows(true);
    }
  });

  test('a replica that does not lead writes none, and a new leader writes the loss under the same name', async (t) => {
    const { shows, pass, leader, written } = scene(t);
    leader.leads = false;
    shows(false);
    await pass(20);
    shows(true);
    assert.equal(written.length, 0);
    shows(false);
    await pass(20);
    leader.leads = true;
    await pass(5);
    assert.deepEqual(
      written.map(({ reason, occasion }) => [reason, occasion]),
      [['NetworkLost', '5']],
    );
  });

  test('two pods that have one address for a minute: an event on each', async (t) => {
    const { shows, pass, written } = scene(t);
    for (const name of ['a', 'b']) shows(true, { uid: `${name}-uid`, name, addresses: ['10.0.0.1'] });
    await pass(59);
    assert.equal(written.length, 0);
    await pass(10);
    assert.deepEqual(
      written.map(({ reason, regarding, note }) => [reason, regarding.name, note.split('. ', 1)[0]]),
      [
        [
          'DuplicateAddress',
          'a',
          'address 10.0.0.1 of the pod network is also that of pod shop/b on node node-of-a, the younger one',
        ],
        [
          'DuplicateAddress',
          'b',
          'address 10.0.0.1 of the pod network is also that of pod shop/a on node node-of-a, the older one',
        ],
      ],
    );
  });

  test('the queue keeps room for other events', async (t) => {
    const { shows, pass, reasons } = scene(t, 99);
    shows(false);
    await pass(60);
    assert.deepEqual(reasons(), []);
  });
});
