import assert from 'node:assert/strict';
import { test } from 'node:test';
import { V1MutatingWebhook } from '@kubernetes/client-node';
import { certificatesLabel, certificatesLabelValue } from '../../webhook/lib/names.ts';
import { namespace, pod } from './harness/objects.ts';
import { metadata, policy, refused, startWithTooMuch } from './installed/account.ts';

/*
 * The policy has to hold our service account to its fields even where it is given every right there is: webhook
 * configurations, the Secret, the Lease, and everything else. Pods and events: manifests-policy-account-pods.test.ts.
 */

const webhooks = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
const secrets = (where: string): string => `/api/v1/namespaces/${where}/secrets`;

const { cluster, api } = await startWithTooMuch();
const { certificate, key } = await cluster.authority.serving(['cni-gate.cni-gate.svc']);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

interface Webhook {
  name: string;
  clientConfig: Record<string, unknown>;
  [field: string]: unknown;
}

interface Registration {
  metadata: Record<string, unknown>;
  webhooks: Webhook[];
}

/** Our webhook configuration with one thing changed, written back by our service account. */
async function change(to: (registration: Registration, webhook: Webhook) => void): Promise<unknown> {
  const registration = await cluster.api.get<Registration>(`${webhooks}/cni-gate`);
  const [webhook] = registration.webhooks;
  assert.ok(webhook);
  to(registration, webhook);
  return api.put(`${webhooks}/cni-gate`, registration);
}

const secret = (name: string, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/tls',
  metadata: { name, labels: { [certificatesLabel]: certificatesLabelValue }, ...metadata },
  data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) },
});

test('the caBundle may change', async () => {
  const caBundle = base64(cluster.authority.pair.certificate);
  await change((_, webhook) => {
    webhook.clientConfig.caBundle = caBundle;
  });
  const { webhooks: stored } = await cluster.api.get<Registration>(`${webhooks}/cni-gate`);
  assert.equal(stored[0]?.clientConfig.caBundle, caBundle);
});

/** For each field of a webhook another value that the API server would take. */
const others: Record<string, unknown> = {
  admissionReviewVersions: ['v1', 'v1beta1'],
  clientConfig: { url: 'https://elsewhere.example/mutate' },
  failurePolicy: 'Ignore',
  matchConditions: [{ name: 'never', expression: 'false' }],
  matchPolicy: 'Exact',
  name: 'other.cni-gate.io',
  namespaceSelector: {},
  objectSelector: { matchLabels: { a: 'b' } },
  reinvocationPolicy: 'Never',
  rules: [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*'] }],
  sideEffects: 'NoneOnDryRun',
  timeoutSeconds: 30,
};

test('the cases below cover every field of a webhook', () => {
  const known = V1MutatingWebhook.getAttributeTypeMap().map(({ baseName }) => baseName);
  assert.deepEqual(Object.keys(others).sort(), known.sort());
});

for (const [field, value] of Object.entries(others)) {
  test(`${field} of the webhook may not change`, async () => {
    await refused(
      change((_, webhook) => {
        webhook[field] = value;
      }),
    );
  });
}

test('the Service that is called may not change', async () => {
  await refused(
    change((_, webhook) => {
      webhook.clientConfig.service = { namespace: 'elsewhere', name: 'cni-gate', path: '/mutate', port: 443 };
    }),
  );
});

for (const [field, value] of Object.entries(metadata)) {
  test(`${field} of the webhook's configuration may not change`, async () => {
    await refused(
      change((registration) => {
        registration.metadata[field] = value;
      }),
    );
  });
}

test('no webhook may be removed or added', async () => {
  await refused(
    change((registration) => {
      registration.webhooks = [];
    }),
  );
  await refused(
    change((registration, webhook) => {
      registration.webhooks = [webhook, { ...webhook, name: 'more.cni-gate.io' }];
    }),
  );
});

test('no configuration may be deleted or created, and no other changed', async () => {
  await refused(api.delete(`${webhooks}/cni-gate`));
  const { metadata: _, ...rest } = await cluster.api.get<Registration>(`${webhooks}/cni-gate`);
  const other = { apiVersion: 'admissionregistration.k8s.io/v1', ...rest, metadata: { name: 'other' } };
  await refused(api.post(webhooks, other));
  await cluster.api.post(webhooks, other);
  await refused(api.patch(`${webhooks}/other`, { metadata: { labels: { a: 'b' } } }));
  await cluster.api.delete(`${webhooks}/other`);
});

test('of the validating webhooks the caBundle may change, and nothing else', async () => {
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/cni-gate';
  const changed = async (to: (webhook: Webhook) => void): Promise<unknown> => {
    const registration = await cluster.api.get<Registration>(path);
    registration.webhooks.forEach(to);
    return api.put(path, registration);
  };
  await changed((webhook) => {
    webhook.clientConfig.caBundle = base64(cluster.authority.pair.certificate);
  });
  for (const field of ['failurePolicy', 'namespaceSelector', 'rules', 'timeoutSeconds']) {
    await refused(
      changed((webhook) => {
        webhook[field] = field === 'failurePolicy' ? 'Fail' : others[field];
      }),
    );
  }
  await refused(api.delete(path));
});

test('one Lease may be created and renewed', async () => {
  const leases = (where: string): string => `/apis/coordination.k8s.io/v1/namespaces/${where}/leases`;
  const lease = (name: string): object => ({ metadata: { name }, spec: { holderIdentity: 'a' } });
  await api.post(leases('cni-gate'), lease('cni-gate-leader'));
  await api.patch(`${leases('cni-gate')}/cni-gate-leader`, { spec: { holderIdentity: 'b' } });
  await refused(api.delete(`${leases('cni-gate')}/cni-gate-leader`));
  await refused(api.post(leases('cni-gate'), lease('other')));
  await refused(api.post(leases('default'), lease('cni-gate-leader')));
});

test('the Secret may be created and its data changed', async () => {
  await api.post(secrets('cni-gate'), secret('cni-gate-tls'));
  await api.patch(`${secrets('cni-gate')}/cni-gate-tls`, { data: { more: base64('x') } });
});

test('nothing else of the Secret may change, and it may not be deleted', async () => {
  const path = `${secrets('cni-gate')}/cni-gate-tls`;
  for (const [field, value] of Object.entries({ ...metadata, labels: { a: 'b' } })) {
    await refused(api.patch(path, { metadata: { [field]: value } }));
  }
  await refused(api.patch(path, { immutable: true }));
  await refused(api.delete(path));
});

test('labels and annotations of others on the Secret stay', async () => {
  const path = `${secrets('cni-gate')}/cni-gate-tls`;
  await cluster.api.patch(path, { metadata: { labels: { team: 'edge' }, annotations: { note: 'kept' } } });
  await api.patch(path, { data: { more: base64('y') } });
  await refused(api.patch(path, { metadata: { labels: { [certificatesLabel]: null } } }));
  await refused(api.patch(path, { metadata: { labels: { team: null } } }));
  await refused(api.patch(path, { metadata: { annotations: { note: null } } }));
});

test('no Secret with another name, namespace or type may be created', async () => {
  await refused(api.post(secrets('cni-gate'), secret('other')));
  await refused(api.post(secrets('default'), secret('cni-gate-tls')));
  await cluster.api.delete(`${secrets('cni-gate')}/cni-gate-tls`);
  await refused(api.post(secrets('cni-gate'), { ...secret('cni-gate-tls'), type: 'Opaque' }));
  const token = { 'kubernetes.io/service-account.name': 'default' };
  await refused(
    api.post(secrets('cni-gate'), {
      ...secret('cni-gate-tls', { annotations: token }),
      type: 'kubernetes.io/service-account-token',
      data: {},
    }),
  );
});

test('nothing else at all may be written', async () => {
  await refused(api.post('/api/v1/namespaces', namespace('more')));
  await refused(api.post('/api/v1/namespaces/default/pods', pod('more')));
  await refused(api.patch('/api/v1/namespaces/default', { metadata: { labels: { a: 'b' } } }));
  await refused(
    api.patch('/api/v1/namespaces/cni-gate/configmaps/cni-gate', { data: { 'config.yaml': '' } }),
  );
  await refused(
    api.patch('/apis/apps/v1/namespaces/cni-gate/deployments/cni-gate/scale', { spec: { replicas: 9 } }),
  );
  await refused(api.post('/api/v1/namespaces/cni-gate/serviceaccounts/cni-gate/token', {}));
  await refused(
    api.patch('/apis/rbac.authorization.k8s.io/v1/clusterroles/cni-gate', {
      metadata: { labels: { a: 'b' } },
    }),
  );
});

test('access reviews are allowed: they change nothing', async () => {
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' };
  const attributes = { verb: 'get', resource: 'pods' };
  await api.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
    ...review,
    spec: { resourceAttributes: attributes },
  });
});

test('the policy does not limit other users', async () => {
  await cluster.api.patch('/api/v1/namespaces/default', { metadata: { labels: { a: 'b' } } });
});

test('the API server finds no fault in the expressions of both policies', async () => {
  for (const name of [policy, 'pods.cni-gate.io']) {
    const path = `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?fieldSelector=metadata.name%3D${name}`;
    const { status } = await cluster.api.until<{
      status?: { typeChecking?: { expressionWarnings?: unknown } };
    }>(path, (found) => found.status?.typeChecking);
    assert.equal(status?.typeChecking?.expressionWarnings, undefined);
  }
});
