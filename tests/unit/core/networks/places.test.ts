import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { decidePlacement } from '../../../../webhook/admission/gate.ts';
import { decodePlacement } from '../../../../webhook/admission/placement.ts';
import { daemonSetSources } from '../../../../webhook/cluster/view/sources.ts';
import { toAgentFacts, toDaemonSetFacts } from '../../../../webhook/core/facts/node.ts';
import { Holds } from '../../../../webhook/core/networks/holds.ts';
import type { Readiness } from '../../../../webhook/core/networks/readiness.ts';
import { networkOn } from '../../../../webhook/leader/repair/networks.ts';
import { policyOf, refusal } from '../../../support/configurations.ts';
import { binding, clusterWith, pending } from '../../admission/gate/support.ts';
import { apiAgent, apiDaemonSet, now } from './objects.ts';
import { evidenceWith, start } from './support.ts';

/* A DaemonSet that may be in one of several namespaces, such as Calico's in calico-system or kube-system. */

const proof = { checks: [{ address: {} }] };
const profiles = [{ name: 'mesh', daemonSets: [{ namespace: ['system', 'net'], name: 'agent' }], proof }];
const policy = policyOf({ profiles });

/** A cluster with a DaemonSet in each of these namespaces. @param places whether the pod on n1 is ready there */
function clusterOf(places: Record<string, boolean>): Readiness {
  const readiness = clusterWith({ n1: undefined });
  readiness.removeDaemonSet({ namespace: 'net', name: 'agent' });
  for (const [namespace, ready] of Object.entries(places)) {
    const { metadata, ...set } = apiDaemonSet('agent');
    readiness.setDaemonSet(
      toDaemonSetFacts({ ...set, metadata: { ...metadata, namespace, uid: `${namespace}-uid` } }),
    );
    const agent = apiAgent('n1', { name: `${namespace}-n1`, owner: namespace, ready });
    readiness.setAgent(toAgentFacts({ ...agent, metadata: { ...agent.metadata, namespace } }));
  }
  return readiness;
}

function gate(places: Record<string, boolean>, notSynced: string[] = []) {
  const view = {
    readiness: clusterOf(places),
    evidence: evidenceWith([]),
    holds: new Holds(),
    notSynced: ({ namespace }: { namespace: string }) => notSynced.includes(namespace),
  };
  const placement = decodePlacement(binding('n1'));
  const {
    outcome,
    reason,
    warnings,
    message = '',
  } = decidePlacement(placement, pending(), view, policy, now).decision;
  return [`${outcome} ${reason}`, warnings[0] ?? /DaemonSet \S+/.exec(message)?.[0]];
}

suite('a DaemonSet that may be in several namespaces', () => {
  test('the gate checks those that exist', () => {
    const without = 'allowed without a check: ';
    assert.deepEqual(gate({ net: true }), ['allowed ready', undefined]);
    assert.deepEqual(gate({ net: false }), ['refused broken', 'DaemonSet net/agent']);
    assert.deepEqual(gate({ net: true, system: false }), ['refused broken', 'DaemonSet system/agent']);
    assert.deepEqual(gate({ net: true }, ['system']), ['allowed ready', undefined]);
    assert.deepEqual(gate({}), [
      'unknown daemonset-unknown',
      `${without}DaemonSet system/agent or net/agent does not exist`,
    ]);
    assert.deepEqual(gate({}, ['net']), [
      'unknown not-synced',
      `${without}not listed yet: pods of DaemonSet system/agent or net/agent`,
    ]);
  });

  test('each namespace is read, and its pods are exempt', () => {
    assert.deepEqual([...daemonSetSources(policy).keys()].slice(-2), ['system/agent', 'net/agent']);
    assert.deepEqual([...policy.daemonSets].slice(-2), ['system/agent', 'net/agent']);
  });

  test('a proof from before its pod started does not count, wherever the pod is', () => {
    const on = (at: number, version: number) => {
      const readiness = clusterOf({ net: true });
      const agent = toAgentFacts(apiAgent('n1', { name: 'net-n1', owner: 'net', version: 50 }));
      readiness.setAgent({ ...agent, containers: ['c2'], startedAt: start + 60_000 });
      const evidence = evidenceWith([{ verdict: 'passed', at, version }]);
      const known = { policy: policyOf({ profiles, gate: { evidence: 'proof' } }), readiness, evidence, now };
      const { state, passedAt } = networkOn('n1', 'mesh', known, 'web');
      return [state, passedAt?.at];
    };
    assert.deepEqual(on(30, 1), ['try', undefined]);
    assert.deepEqual(on(90, 60), ['open', start + 90_000]);
  });

  test('a wrong list of namespaces is refused', () => {
    for (const namespace of ['[]', '[Kube]', '7', '[a, a]'])
      assert.match(
        refusal(`profiles:\n  - name: a\n    daemonSets: [{ namespace: ${namespace}, name: b }]\n`),
        /^CNI_GATE_CONFIG_INVALID\n.*: profiles\[0\]\.daemonSets\[0\]\.namespace/,
      );
  });
});
