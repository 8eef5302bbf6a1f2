import { refusalText } from '../../../webhook/admission/gate/refusal.ts';
import { countStates } from '../../../webhook/nodes/readiness/count.ts';
import { Readiness } from '../../../webhook/nodes/readiness/readiness.ts';
import { toAgentFacts, toDaemonSetFacts, toNodeFacts } from '../../../webhook/nodes/readiness/to-facts.ts';
import { growsLinearly, many, map, on, onText } from '../../support/hostile-work.ts';
import { clusterWith } from '../admission/gate/support.ts';
import { apiAgent, apiDaemonSet, apiNode, now } from '../nodes/readiness/objects.ts';
import { taint, toleration } from './inputs.ts';

growsLinearly('readiness', [
  [
    'toAgentFacts: a reason',
    onText((text) => toAgentFacts(apiAgent('n1', { ready: false, waiting: text })), '\u001b]'),
  ],
  [
    'toAgentFacts: containers',
    on(
      (size) =>
        apiAgent('n1', { ready: false, waiting: 'x', containers: many(size, (index) => `c${index}`) }),
      toAgentFacts,
    ),
  ],
  [
    'toNodeFacts',
    on(
      (size) =>
        apiNode('n1', 'b1', 1, {
          spec: { taints: many(size, taint) },
          status: { allocatable: map(size, () => '1') },
        }),
      toNodeFacts,
    ),
  ],
  [
    'pickDaemonSet',
    on((size) => apiDaemonSet('agent', { tolerations: many(size, toleration) }), toDaemonSetFacts),
  ],
  [
    'refusalText: a reason',
    onText((waitingFor) => {
      const agent = toAgentFacts(apiAgent('n1', { ready: false, waiting: waitingFor }));
      return refusalText({
        node: 'n1',
        profile: 'mesh',
        daemonSet: { namespace: 'net', name: 'agent' },
        status: { state: 'broken', reason: agent.reason },
      });
    }, 'a\u001b] '),
  ],
  [
    'Readiness: pods of a DaemonSet on one node',
    on(
      (size) => many(size, (index) => toAgentFacts(apiAgent('n1', { name: `a${index}`, ready: false }))),
      (agents) => {
        const cluster = clusterWith({ n1: {} });
        for (const facts of agents) cluster.apply({ kind: 'agent', facts }, now);
        return cluster.status({ namespace: 'net', name: 'agent' }, 'n1', now, 1000);
      },
    ),
  ],
  [
    'Readiness: pods with many containers',
    on(
      (size) =>
        many(4, (index) =>
          toAgentFacts(apiAgent('n1', { containers: many(size, (id) => `c${index}-${id}`) })),
        ),
      (agents) => {
        const cluster = clusterWith({ n1: {} });
        for (const facts of agents) cluster.apply({ kind: 'agent', facts }, now);
        cluster.apply({ kind: 'node', facts: toNodeFacts(apiNode('n1', 'b2', 9)), listed: false }, now);
        return cluster.status({ namespace: 'net', name: 'agent' }, 'n1', now, 1000);
      },
    ),
  ],
  [
    'Readiness: nodes that come and go',
    on(
      (size) => many(size, (index) => toNodeFacts(apiNode(`n${index}`, 'b1', 1))),
      (nodes) => {
        const cluster = new Readiness();
        for (const facts of nodes) cluster.apply({ kind: 'node', facts, listed: true }, now);
        for (const { name } of nodes) cluster.apply({ kind: 'node-gone', name }, now);
      },
    ),
  ],
  [
    'countStates',
    on(
      (size) => clusterWith(Object.fromEntries(many(size, (index) => [`n${index}`, {}]))),
      (cluster) => countStates(cluster, { namespace: 'net', name: 'agent' }, now, 1000),
    ),
  ],
]);
