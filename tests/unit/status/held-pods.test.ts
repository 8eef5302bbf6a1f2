import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { Readiness } from '../../../webhook/readiness/readiness.ts';
import { toAgentFacts, toDaemonSetFacts } from '../../../webhook/readiness/to-facts.ts';
import { HeldPods } from '../../../webhook/status/collect/held-pods.ts';
import { ClusterReader } from '../../../webhook/status/collect/reader.ts';
import type { PodFacts } from '../../../webhook/status/facts.ts';
import { policyOf } from '../../support/configurations.ts';
import { type Asked, json, startFakeApi, status } from '../../support/fake-api-server.ts';
import { apiAgent, apiDaemonSet, now } from '../readiness/objects.ts';
import { node } from '../steer/support.ts';
import { allRegistered, holdOf, wholeInstallation } from './objects.ts';

const profiles = [{ name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }] }];

interface LearnOptions {
  /** The path that may not be asked. */
  forbidden?: string;
  isHeld?: boolean;
  steer?: { mode: 'nominate' | 'off' };
}

/** A pod that n1 was refused for, and n2 that would take it. */
function facts(isHeld = true) {
  const readiness = new Readiness();
  readiness.apply({ kind: 'daemonset', facts: toDaemonSetFacts(apiDaemonSet('agent')) }, now);
  for (const [name, ready] of [
    ['n1', false],
    ['n2', true],
  ] as const) {
    readiness.apply({ kind: 'node', facts: node(name), listed: true }, now);
    readiness.apply({ kind: 'agent', facts: toAgentFacts(apiAgent(name, { ready })) }, now);
  }
  const held = holdOf('web', { refused: 'n1', why: '', since: now, nominated: '' });
  const pod: PodFacts = { namespace: 'shop', name: 'web', proof: 'waiting', ...(isHeld && { held }) };
  const scheduler = { version: 'v1.36.3', goesByNominations: true };
  return {
    readiness,
    registered: allRegistered,
    installation: wholeInstallation,
    scheduler,
    namespaces: [],
    pods: [pod],
  };
}

const event = (node: string, eventTime: string, reportingController = 'cni-gate.io/leader') => ({
  eventTime,
  reportingController,
  regarding: { uid: 'web-uid' },
  related: { name: node },
});

const items: Record<string, object[]> = {
  '/api/v1/pods': [],
  '/apis/events.k8s.io/v1/namespaces/shop/events': [
    event('n3', '2026-11-21T11:59:10.000000Z'),
    event('n2', '2026-11-21T11:59:20.000000Z'),
    event('n4', '2026-11-21T11:59:30.000000Z', 'somebody-else'),
  ],
};

/** What is asked and learned where some paths are forbidden. */
async function learn(
  t: TestContext,
  { forbidden = '', isHeld = true, steer = { mode: 'nominate' } }: LearnOptions = {},
) {
  const answer = ({ path }: Asked): [number, object] =>
    path === forbidden ? [403, status(403, 'Forbidden', 'no')] : [200, { items: items[path] ?? [] }];
  const { client, asked } = await startFakeApi(t, (one, response) => json(response, ...answer(one)));
  const held = new HeldPods(new ClusterReader(client, t.signal));
  await held.learn({ ...facts(isHeld), policy: policyOf({ profiles, steer }) });
  const { usage, lastNomination } = held.knowledge;
  return { asked, usage: usage?.('n2'), lastNomination };
}

suite('requests for held pods', () => {
  test('cover the pods of nodes that might take them, and the events of their namespaces', async (t) => {
    const { asked, usage, lastNomination } = await learn(t);
    assert.deepEqual(
      asked.map(({ path, query }) => [path, query.fieldSelector]),
      [
        ['/api/v1/pods', 'spec.nodeName=n2,status.phase!=Succeeded,status.phase!=Failed'],
        ['/apis/events.k8s.io/v1/namespaces/shop/events', 'reason=NodeNominated'],
      ],
    );
    assert.deepEqual(usage?.amounts, {});
    assert.deepEqual(lastNomination?.('web-uid'), { node: 'n2', at: Date.parse('2026-11-21T11:59:20Z') });
    assert.equal(lastNomination?.('other'), undefined);
  });

  test('there are none where no pod is held, or where steering is off', async (t) => {
    assert.deepEqual((await learn(t, { isHeld: false })).asked, []);
    assert.deepEqual((await learn(t, { steer: { mode: 'off' } })).asked, []);
  });

  test('a missing right leaves its answer unknown, and is no error', async (t) => {
    assert.equal((await learn(t, { forbidden: '/api/v1/pods' })).usage, undefined);
    const path = '/apis/events.k8s.io/v1/namespaces/shop/events';
    const { usage, lastNomination } = await learn(t, { forbidden: path });
    assert.deepEqual([usage?.amounts, lastNomination], [{}, undefined]);
  });
});

test('of earlier facts only those about held pods are kept', async (t) => {
  const { client } = await startFakeApi(t, () => assert.fail('nothing is asked'));
  const known = { usage: () => undefined, lastNomination: () => undefined };
  const everything = { ...facts(), ...known };
  assert.deepEqual(new HeldPods(new ClusterReader(client, t.signal), everything).knowledge, known);
});
