import assert from 'node:assert/strict';
import { optedIn, podOn } from '../gate/scene.ts';
import { podsOf } from '../gate/steps.ts';
import type { Cluster } from '../harness/cluster.ts';
import { eventually } from '../harness/eventually.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const name = 'refuse-n1';

/**
 * Lets the API server refuse bindings to n1 by itself, in the namespace that opted in, without asking anybody: what
 * a refusal costs whoever makes it.
 * In force when this is done.
 *
 * @returns takes it away again
 */
export async function refuseByPolicy({ api }: Cluster): Promise<() => Promise<void>> {
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['CREATE'],
    resources: ['pods/binding'],
  };
  await api.post(`${group}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: {
      matchConstraints: {
        resourceRules: [rule],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': optedIn } },
      },
      validations: [{ expression: "object.target.name != 'n1'", message: 'not n1' }],
    },
  });
  await api.post(`${group}/validatingadmissionpolicybindings`, {
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  });
  const pod = 'asked-for';
  await api.post(podsOf(optedIn), podOn(pod, { spec: { schedulerName: 'nobody' } }));
  const target = { apiVersion: 'v1', kind: 'Node', name: 'n1' };
  const binding = { metadata: { name: pod, namespace: optedIn }, target };
  await eventually(() =>
    assert.rejects(api.post(`${podsOf(optedIn)}/${pod}/binding?dryRun=All`, binding), /not n1/),
  );
  await api.delete(`${podsOf(optedIn)}/${pod}?gracePeriodSeconds=0`);
  return async () => {
    await api.delete(`${group}/validatingadmissionpolicybindings/${name}`);
    await api.delete(`${group}/validatingadmissionpolicies/${name}`);
  };
}
