import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { NodeFacts } from '../../../webhook/readiness/facts.ts';
import { Readiness } from '../../../webhook/readiness/readiness.ts';
import { toAgentFacts, toDaemonSetFacts } from '../../../webhook/readiness/to-facts.ts';
import type { PodFacts, StatusFacts } from '../../../webhook/status/facts.ts';
import { usagesNeeded, whyUnsent } from '../../../webhook/status/unsent.ts';
import type { PendingPod } from '../../../webhook/steer/pending-pod.ts';
import { policyOf } from '../../support/configurations.ts';
import { apiAgent, apiDaemonSet } from '../readiness/objects.ts';
import { node, now, usage, waiting } from '../steer/support.ts';
import { evidenceOf } from './objects.ts';

const policy = policyOf({ profiles: [{ name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }] }] });
const taint = { key: 'gpu', value: '', effect: 'NoSchedule' };

interface Scene {
  /** Other pods, and whether only one namespace is known. */
  others?: PodFacts[];
  partial?: boolean;
  /** What the gate said. */
  refusal?: string;
  /** Nodes by name, and whether the agent is ready there. */
  nodes?: [NodeFacts, ready: boolean][];
  refused?: NodeFacts;
  pod?: Partial<PendingPod>;
  usage?: StatusFacts['usage'];
  lastNomination?: StatusFacts['lastNomination'];
  steer?: { inForce: boolean | null; why: string };
}

function factsOf(scene: Scene) {
  const { nodes = [], refused = node('n1'), pod = {}, usage: known = () => usage({}) } = scene;
  const { others = [], partial = false, refusal = '' } = scene;
  const readiness = new Readiness();
  readiness.apply({ kind: 'daemonset', facts: toDaemonSetFacts(apiDaemonSet('agent')) }, now);
  for (const [facts, ready] of [[refused, false] as const, ...nodes]) {
    readiness.apply({ kind: 'node', facts, listed: true }, now);
    readiness.apply({ kind: 'agent', facts: toAgentFacts(apiAgent(facts.name, { ready })) }, now);
  }
  const held = waiting('web', { heldSince: now - 60_000, ...pod });
  const hold = { refused: 'n1', why: refusal, since: held.heldSince, nominated: held.nominated, pod: held };
  const pods: PodFacts[] = [{ namespace: 'shop', name: 'web', proof: 'waiting', held: hold }, ...others];
  return { facts: { policy, readiness, pods, usage: known, partial }, held };
}

function unsent(scene: Scene) {
  const { facts, held } = factsOf(scene);
  const { lastNomination } = scene;
  const known = { ...facts, ...(lastNomination && { lastNomination }) };
  return whyUnsent(known, scene.steer ?? { inForce: true, why: '' }, now)(held);
}

/** Pods of two owners on n2 whose proofs failed there a second ago. */
const failures: PodFacts[] = ['a', 'b'].map((name) => ({
  namespace: 'shop',
  name,
  node: 'n2',
  proof: 'failed',
  evidence: evidenceOf(name, {
    node: 'n2',
    profiles: ['mesh'],
    failedProfiles: ['mesh'],
    verdict: 'failed',
    at: now - 1000,
    startedAt: now - 1000,
    controller: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: `owner-${name}` },
  }),
}));
const failing = 'DaemonSet net/agent is failing there (pod agent-n2): proofs say so';

suite('why a pod that is held was sent nowhere', () => {
  const cases: [what: string, scene: Scene, reason: string | undefined, why: RegExp][] = [
    ['it was sent', { nodes: [[node('n2'), true]], pod: { nominated: 'n2' } }, undefined, /^$/],
    [
      'nobody steers',
      { nodes: [[node('n2'), true]], steer: { inForce: false, why: 'pods that are refused wait' } },
      'not-steering',
      /^nobody steers: pods that are refused wait$/,
    ],
    ['there is one node', {}, 'no-node-ready', /^there is no other node$/],
    [
      'no other node is ready',
      {
        nodes: [
          [node('n2'), false],
          [node('n3'), false],
        ],
      },
      'no-node-ready',
      /^none of the 2 other nodes is ready for mesh$/,
    ],
    [
      'each of the others has another reason',
      {
        nodes: [
          [node('n2'), false],
          [node('n3', { taints: [taint] }), true],
          [node('n4', { unschedulable: true }), true],
          [node('n5', { labels: { name: 'other' } }), true],
          [node('n6', { allocatable: { cpu: 50, pods: 10 } }), true],
        ],
        pod: { constraints: { nodeSelector: { name: 'n6' } } },
      },
      'no-node-fits',
      /^no other node takes it: 1 not ready for mesh; 2 cordoned, or with a taint that it does not tolerate; 1 ruled out by its node selector or affinity; 1 too small for its requests$/,
    ],
    [
      'there is no room',
      { nodes: [[node('n2'), true]], usage: () => usage({ cpu: 950 }) },
      'no-node-fits',
      /^no other node takes it: 1 without free capacity for its requests$/,
    ],
    [
      'what is free may not be read',
      { nodes: [[node('n2'), true]], usage: () => undefined },
      'not-known',
      /^not known: what is free on node n2 takes the right to list the pods of all namespaces$/,
    ],
    [
      'only the scheduler knows where its volumes can be used',
      { nodes: [[node('n2'), true]], pod: { hasVolumes: true } },
      'not-known',
      /^not known: node n2 would take it if its volumes can be used there, which only the scheduler knows$/,
    ],
    [
      'it has volumes, and no other node is ready',
      { nodes: [[node('n2'), false]], pod: { hasVolumes: true } },
      'no-node-ready',
      /^none of the 1 other nodes is ready for mesh$/,
    ],
    [
      'the others are in another zone than its volumes',
      {
        nodes: [[node('n2', { labels: { 'topology.kubernetes.io/zone': 'b' } }), true]],
        refused: node('n1', { labels: { 'topology.kubernetes.io/zone': 'a' } }),
        pod: { hasVolumes: true },
      },
      'no-node-fits',
      /^no other node takes it: 1 in another zone than its volumes$/,
    ],
    [
      'a node would take it',
      { nodes: [[node('n2'), true]], lastNomination: () => undefined },
      'due',
      /^node n2 would take it: it is sent there within seconds$/,
    ],
    [
      'a node would take it, and what became of nominations may not be read',
      { nodes: [[node('n2'), true]] },
      'due',
      /within seconds, unless steering pauses: whether it does, takes the right to list events to see$/,
    ],
    [
      'the scheduler ignored a nomination',
      { nodes: [[node('n2'), true]], lastNomination: () => ({ node: 'n3', at: now - 30_000 }) },
      'ignored',
      /^node n3 was named for it at 2026-11-21T11:59:30Z, and the scheduler did not bind it there: steering pauses, /,
    ],
    [
      'a nomination of an earlier hold says nothing',
      { nodes: [[node('n2'), true]], lastNomination: () => ({ node: 'n3', at: now - 90_000 }) },
      'due',
      /^node n2 would take it/,
    ],
    ['it is being deleted', { nodes: [[node('n2'), true]], pod: { leaving: true } }, 'leaving', /deleted/],
    [
      'it asks for too much',
      { nodes: [[node('n2'), true]], pod: { tooLarge: true } },
      'too-large',
      /too much/,
    ],
    [
      'its node is ready by now',
      { pod: { refused: 'n2' }, nodes: [[node('n2'), true]] },
      'node-ready',
      /^node n2 is ready by now, or gone: its next try will do$/,
    ],
    [
      'proofs fail on the only other node',
      { nodes: [[node('n2'), true]], others: failures },
      'no-node-ready',
      /^none of the 1 other nodes is ready for mesh$/,
    ],
    [
      'proofs fail on its node, and another one would take it',
      {
        pod: { refused: 'n2' },
        nodes: [
          [node('n2'), true],
          [node('n3'), true],
        ],
        others: failures,
        lastNomination: () => undefined,
      },
      'due',
      /^node n3 would take it/,
    ],
    [
      'it may be its turn on a node that gets one pod at a time',
      { pod: { refused: 'n2' }, nodes: [[node('n2'), true]], refusal: failing },
      'in-turn',
      /^node n2 gets one pod at a time until a proof passes there: this pod waits for its turn$/,
    ],
    [
      'only its namespace is known, and proofs failed on its node',
      {
        pod: { refused: 'n2' },
        nodes: [[node('n2'), true]],
        others: failures,
        partial: true,
        refusal: failing,
      },
      'in-turn',
      /one pod at a time/,
    ],
  ];
  for (const [what, scene, reason, why] of cases) {
    test(what, () => {
      const found = unsent(scene);
      assert.equal(found?.reason, reason);
      assert.match(found?.why ?? '', why);
    });
  }

  test('a cluster whose steering is not known is planned for all the same', () => {
    assert.equal(unsent({ steer: { inForce: null, why: 'x' } })?.reason, 'no-node-ready');
  });

  test('of two pods that a node has room for once, the second is told that there is none', () => {
    const { facts, held } = factsOf({ nodes: [[node('n2'), true]], usage: () => usage({ cpu: 850 }) });
    const second = { ...held, uid: 'second', name: 'zweb' };
    const pods = [...facts.pods, { ...facts.pods[0], held: { ...facts.pods[0]?.held, pod: second } }];
    const why = whyUnsent({ ...facts, pods: pods as PodFacts[] }, { inForce: true, why: '' }, now);
    assert.deepEqual([why(held)?.reason, why(second)?.reason], ['due', 'no-node-fits']);
  });
});

test('the usage of a node is needed only if it is ready and unknown', () => {
  const needed = (scene: Scene): string[] => usagesNeeded(factsOf(scene).facts, now);
  assert.deepEqual(
    needed({
      nodes: [
        [node('n2'), true],
        [node('n3'), false],
      ],
      usage: () => undefined,
    }),
    ['n2'],
  );
  assert.deepEqual(needed({ nodes: [[node('n2'), false]], usage: () => undefined }), []);
  assert.deepEqual(needed({ nodes: [[node('n2'), true]] }), []);
});
