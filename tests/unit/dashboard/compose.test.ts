import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dashboardOf } from '../../../webhook/dashboard/compose.ts';
import { History } from '../../../webhook/dashboard/history.ts';
import type { Dashboard } from '../../../webhook/dashboard/model.ts';
import { dashboardLimits } from '../../../webhook/lib/limits.ts';
import { statusOf } from '../../../webhook/status/compose.ts';
import type { Status } from '../../../webhook/status/model.ts';
import { clusterFacts, dashboardFrom, nodeName } from '../../support/dashboard-cluster.ts';
import { now } from '../readiness/objects.ts';
import { client } from '../status/objects.ts';

const options = { groupLabel: undefined, stale: null };

/** The status of five nodes, changed. */
function changed(change: Partial<Status>): Dashboard {
  const facts = clusterFacts(5);
  const status = statusOf(facts, { client, configuration: 'built-in', now, all: true, namespace: undefined });
  return dashboardOf({ ...status, ...change }, facts.readiness.nodes(), new History(), options);
}

test('a node has its zone, its group, and a cell for each network with the state and since when', () => {
  const { networks, nodes, states, texts } = dashboardFrom(clusterFacts(5));
  assert.deepEqual(
    networks.map(({ name, inUse }) => [name, inUse]),
    [
      ['net/cilium', true],
      ['net/linkerd', true],
      ['net/multus', true],
    ],
  );
  const first = nodes.find(({ name }) => name === nodeName(0));
  assert.deepEqual([first?.zone, first?.group], ['eu-west-1a', 'general']);
  const [state, since, pod, why] = first?.cells[0] ?? [];
  assert.equal(states[state ?? -1], 'starting');
  assert.equal(since, (now - 40_000) / 1000);
  assert.match(pod ?? '', /^cilium-/);
  assert.match(texts[why ?? -1] ?? '', /ContainerCreating/);
  assert.deepEqual(
    first?.proved.map(([profile]) => profile),
    ['cilium'],
  );
});

test('texts that nodes share are sent once', () => {
  const { texts } = dashboardFrom(clusterFacts(200));
  assert.equal(new Set(texts).size, texts.length);
});

test('a label of the user names the groups of nodes instead of those of clouds', () => {
  const facts = clusterFacts(5);
  const status = statusOf(facts, { client, configuration: 'built-in', now, all: true, namespace: undefined });
  const groupLabel = 'topology.kubernetes.io/zone';
  const { nodes } = dashboardOf(status, facts.readiness.nodes(), new History(), { ...options, groupLabel });
  assert.equal(nodes[0]?.group, 'eu-west-1a');
});

test('a profile without a DaemonSet has a column of what its proofs say', () => {
  const nodeProofs: Status['nodeProofs'] = [
    {
      node: nodeName(1),
      profile: 'aws',
      state: 'failing',
      provedBy: null,
      provedAt: null,
      why: 'two owners failed',
    },
  ];
  const { networks, nodes, states, texts } = changed({ nodeProofs });
  assert.equal(networks.at(-1)?.name, 'aws');
  const [state, since, , why] = nodes.find(({ name }) => name === nodeName(1))?.cells.at(-1) ?? [];
  assert.deepEqual([states[state ?? -1], since, texts[why ?? -1]], ['failing', null, 'two owners failed']);
});

test('a fault has the meaning of its code and the page that says what to do', () => {
  const [fault] = dashboardFrom(clusterFacts(5)).faults;
  assert.equal(fault?.code, 'CNI_GATE_DEPLOYMENT');
  assert.match(fault?.meaning ?? '', /fewer ready replicas/);
  assert.match(fault?.page ?? '', /^https:\/\/.*errors\.md#cni_gate_deployment$/);
});

test('of a long list the page gets the first rows, and how many there are', () => {
  const [pod] = dashboardFrom(clusterFacts(5)).unprovedPods.rows;
  assert.ok(pod);
  const unprovedPods = Array.from({ length: dashboardLimits.rows + 3 }, (_, index) => ({
    ...pod,
    name: `p${index}`,
  }));
  const { total, rows } = changed({ unprovedPods }).unprovedPods;
  assert.deepEqual(
    [total, rows.length, rows[0]?.name],
    [dashboardLimits.rows + 3, dashboardLimits.rows, 'p0'],
  );
});
