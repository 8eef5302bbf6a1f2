import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { parse } from 'yaml';
import {
  type ApiDeployment,
  pickDeployment,
  servingSecret,
} from '../../../webhook/status/collect/objects.ts';

type PodSpec = NonNullable<ApiDeployment['spec']['template']['spec']>;

/** The pods of a file of the manifests. */
function podsOf(path: string): PodSpec {
  const text = readFileSync(new URL(`../../../manifests/${path}`, import.meta.url), 'utf8');
  return parse(text).spec.template.spec;
}

const deployment = (spec: PodSpec, more: Partial<ApiDeployment> = {}): ApiDeployment => ({
  metadata: { generation: 2 },
  spec: { replicas: 2, template: { spec } },
  ...more,
});

suite('the Secret of the serving certificate', () => {
  const secretOf = (spec: PodSpec) => servingSecret(deployment(spec));

  test('is that of --tls-secret, or behind the file of --tls-cert, as in the manifests', () => {
    assert.deepEqual(secretOf(podsOf('base/deployment.yaml')), {
      name: 'cni-gate-tls',
      key: 'tls.crt',
      isAuthority: true,
    });
    assert.deepEqual(secretOf(podsOf('components/files/deployment.yaml')), {
      name: 'cni-gate-serving',
      key: 'tls.crt',
      isAuthority: false,
    });
  });

  test('is found in flags of two words, without items, and by the path of an item', () => {
    assert.deepEqual(secretOf({ containers: [{ args: ['--tls-secret', 'own'] }] }), {
      name: 'own',
      key: 'tls.crt',
      isAuthority: true,
    });
    const mounted = (items?: { key: string; path: string }[]): PodSpec => ({
      containers: [{ args: ['--tls-cert=/tls/web.pem'], volumeMounts: [{ name: 'v', mountPath: '/tls' }] }],
      volumes: [{ name: 'v', secret: { secretName: 's', ...(items && { items }) } }],
    });
    assert.deepEqual(secretOf(mounted()), { name: 's', key: 'web.pem', isAuthority: false });
    assert.deepEqual(secretOf(mounted([{ key: 'cert', path: 'web.pem' }])), {
      name: 's',
      key: 'cert',
      isAuthority: false,
    });
  });

  test('is not known where the certificate is made at start, or comes from elsewhere', () => {
    assert.equal(secretOf({ containers: [{ args: ['serve'] }] }), undefined);
    assert.equal(secretOf({ containers: [{ args: ['--tls-cert=/tls/web.pem'] }], volumes: [] }), undefined);
    assert.equal(secretOf({}), undefined);
  });
});

suite('what is kept of the Deployment', () => {
  test('counts that are missing are 0, and replicas that are not named are 1', () => {
    const facts = pickDeployment({ metadata: {}, spec: { template: {} }, status: {} });
    assert.deepEqual(facts, { desired: 1, ready: 0, updated: 0, stuck: undefined });
  });

  test('a status from before the last change says nothing of pods that were updated', () => {
    const status = { observedGeneration: 1, readyReplicas: 2, updatedReplicas: 2 };
    assert.equal(pickDeployment(deployment({}, { status })).updated, 0);
    assert.equal(pickDeployment(deployment({}, { status: { ...status, observedGeneration: 2 } })).updated, 2);
  });

  test('a rollout is stuck by its condition alone', () => {
    const condition = {
      type: 'Progressing',
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      message: 'late',
    };
    const stuck = (conditions: (typeof condition)[]) =>
      pickDeployment(deployment({}, { status: { conditions } })).stuck;
    assert.equal(stuck([condition]), 'late');
    assert.equal(stuck([{ ...condition, status: 'True', reason: 'NewReplicaSetAvailable' }]), undefined);
  });
});
