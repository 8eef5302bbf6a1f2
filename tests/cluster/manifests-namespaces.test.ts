import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespacesWebhook, profileLabel } from '../../webhook/lib/names.ts';
import { eventually } from './harness/eventually.ts';
import { metric } from './harness/metrics.ts';
import { namespace } from './harness/objects.ts';
import { installed } from './installed/installation.ts';
import { warningsOf } from './installed/working.ts';

/* A user who labels a namespace with an unknown profile gets a warning, but the label is always set. */

const { cluster, replicas } = await installed('strict');

await cluster.kubectl(['create', 'namespace', 'shop']);
await cluster.kubectl(['create', 'namespace', 'other']);

const unknown = 'Warning: CNI_GATE_PROFILE_UNKNOWN: profile "likerd" does not exist';

interface Namespace {
  metadata: { name: string; labels: Record<string, string> };
}

const warnings = (args: string[], input?: object): Promise<string> => warningsOf(cluster, args, input);

const label = (name: string, value: string, ...more: string[]): Promise<string> =>
  warnings(['label', '--overwrite', 'namespace', name, `${profileLabel}=${value}`, ...more]);

async function labelOf(name: string): Promise<string | undefined> {
  const { metadata } = await cluster.api.get<Namespace>(`/api/v1/namespaces/${name}`);
  return metadata.labels[profileLabel];
}

const calls = (): Promise<number> =>
  metric(cluster.api, 'apiserver_admission_webhook_request_total', { name: namespacesWebhook });

test('a label with an unknown profile is set, with a warning that suggests the right one', async () => {
  await eventually(async () => assert.match(await label('shop', 'likerd', '--dry-run=server'), /Warning/));
  const text = await label('shop', 'likerd');
  assert.ok(text.includes(unknown), text);
  assert.ok(text.includes('(did you mean "linkerd"?)'), text);
  assert.match(text, /Warning: no pod can be created in namespace shop/);
  assert.match(text, /Warning: see https:\/\/github\.com\/.*#cni_gate_profile_unknown/);
  assert.equal(await labelOf('shop'), 'likerd');
});

test('a label with profiles that cannot be combined also gets a warning, even on a new namespace', async () => {
  assert.match(await label('shop', 'cilium.cilium'), /Warning: CNI_GATE_PROFILE_COMBINATION: /);
  const made = await warnings(['create', '-f', '-'], namespace('typo', { [profileLabel]: 'likerd' }));
  assert.ok(made.includes(unknown), made);
  assert.equal(await labelOf('typo'), 'likerd');
});

test('the webhook is called only if the label is set or changed', async () => {
  const before = await calls();
  assert.ok(before > 0, 'the API server counts no calls where there were some');
  assert.equal(await warnings(['label', '--overwrite', 'namespace', 'shop', 'team=green']), '');
  assert.equal(await warnings(['annotate', 'namespace', 'shop', 'note=green']), '');
  assert.equal(await label('other', 'none'), '');
  assert.equal(await warnings(['label', 'namespace', 'other', `${profileLabel}-`]), '');
  assert.equal(await warnings(['create', 'namespace', 'plain']), '');
  for (const own of ['kube-system', 'cni-gate']) {
    assert.equal(await label(own, 'likerd'), '');
    await cluster.kubectl(['label', 'namespace', own, `${profileLabel}-`]);
  }
  assert.equal(await calls(), before);
  assert.equal(await label('shop', 'linkerd'), '', 'a label that is right gets no warning');
  assert.equal(await calls(), before + 1);
});

test('without replicas, a namespace is created and labelled immediately, and can be deleted', async () => {
  await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
  const start = performance.now();
  await cluster.api.post('/api/v1/namespaces', namespace('late', { [profileLabel]: 'likerd' }));
  await cluster.api.patch('/api/v1/namespaces/late', { metadata: { labels: { [profileLabel]: 'linkerd' } } });
  const took = performance.now() - start;
  assert.ok(took < 1000, `${Math.round(took)} ms`);
  assert.equal(await labelOf('late'), 'linkerd');
  await cluster.kubectl(['delete', 'namespace', 'late', 'typo']);
});
