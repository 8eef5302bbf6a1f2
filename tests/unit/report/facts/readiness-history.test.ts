import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toAgentFacts, toDaemonSetFacts, toNodeFacts } from '../../../../webhook/nodes/readiness/to-facts.ts';
import { type NetworkReading, ReadinessHistory } from '../../../../webhook/report/facts/readiness-history.ts';
import { apiAgent, apiDaemonSet, apiNode, now } from '../../nodes/readiness/objects.ts';

const network = { namespace: 'net', name: 'agent' };
/** A node's version after its second boot is later than that of its pod. */
const reading = (boot: 'one' | 'two', more: Partial<NetworkReading> = {}): NetworkReading => ({
  nodes: [toNodeFacts(apiNode('n1', boot, boot === 'one' ? 1 : 9))],
  daemonSets: [toDaemonSetFacts(apiDaemonSet('agent'))],
  agents: [toAgentFacts(apiAgent('n1'))],
  ...more,
});

test('a later reading shows a reboot, and what it lacks is gone', () => {
  const history = new ReadinessHistory();
  const stateAfter = (next: NetworkReading, time: number): string | undefined =>
    history.update(next, now + time).status(network, 'n1', now + time, 300_000)?.state;
  assert.equal(stateAfter(reading('one'), 0), 'ready');
  assert.equal(stateAfter(reading('one'), 2000), 'ready');
  assert.equal(stateAfter(reading('two'), 4000), 'rebooted');
  // a first reading cannot know the boot before
  assert.equal(
    new ReadinessHistory().update(reading('two'), now).status(network, 'n1', now, 300_000)?.state,
    'ready',
  );
  assert.equal(stateAfter(reading('two', { agents: [] }), 6000), 'absent');
  const readiness = history.update({ nodes: [], daemonSets: [], agents: [] }, now + 8000);
  assert.deepEqual([[...readiness.nodes()], readiness.knows(network)], [[], false]);
});
