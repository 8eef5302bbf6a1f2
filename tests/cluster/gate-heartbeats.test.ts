import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonSet, networkNamespace, optedIn, type Pod, podOn, sceneIn } from './gate/scene.ts';
import { podsOf, stepsIn } from './gate/steps.ts';
import { addNode } from './harness/nodes.ts';
import { startCluster } from './harness/start.ts';

/*
 * A node's heartbeats stop, and the node-lifecycle controller marks the node NotReady and its pods not Ready, although
 * there was no reboot. A real kubelet would restore the pods' Ready condition with the old transition time; here the
 * test does so.
 */

const cluster = await startCluster({ nodeLifecycle: 5 });
const { api, components } = cluster;
const scene = await sceneIn(cluster, { host: '10.254.3.9' });
const { agentOn, apply, says, until } = stepsIn(cluster);

interface Node {
  status: { conditions: { type: string; status: string }[] };
}
interface Conditions {
  status: { conditions: { type: string; status: string; lastTransitionTime: string }[] };
}

const nodeIs = (status: string): Promise<Node> =>
  api.until<Node>('/api/v1/nodes?fieldSelector=metadata.name%3Dn1', (node) =>
    node.status.conditions.some((condition) => condition.type === 'Ready' && condition.status === status),
  );

test('a node that was away and comes back without a boot is refused while away, and never after', async () => {
  await addNode(cluster, 'n1');
  await apply(daemonSet('agent'));
  const agent = await agentOn('n1');
  const path = `${podsOf(networkNamespace)}/${agent.metadata.name}`;
  const before = await api.get<Conditions>(path);
  await until('allowed', 'n1', 'before');

  await components.kwok.stop();
  await nodeIs('Unknown');
  await says('refused', 'n1', 30);

  await components.kwok.start();
  await nodeIs('True');
  await api.patch(`${path}/status`, { status: { conditions: before.status.conditions } });
  await says('allowed', 'n1', 30);
  const from = scene.server.lines.length;
  for (let index = 0; index < 20; index += 1) await apply(podOn(`after-${index}`));
  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      api.until<Pod>(
        `${podsOf(optedIn)}?fieldSelector=metadata.name%3Dafter-${index}`,
        ({ spec }) => spec.nodeName === 'n1',
      ),
    ),
  );
  const refused = scene.server.lines
    .slice(from)
    .filter(({ webhook, outcome }) => webhook === 'gate' && outcome === 'refused');
  assert.deepEqual(refused, []);
});
