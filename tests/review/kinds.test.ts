import assert from 'node:assert/strict';
import { test } from 'node:test';
import jsonpatch, { type Operation } from 'fast-json-patch';
import { parse } from 'yaml';
import { flagsOf, manifests, tables } from './manifests.ts';
import { namespaceOf, pod, reviewFiles, reviewText } from './support.ts';

for (const { kind: named, at, ...body } of tables('kinds.yaml')) {
  const where = at.length === 0 ? 'counted' : `patched at ${at.join(', ') || 'itself'}`;
  test(`${named} is ${where}`, async (t) => {
    const [apiVersion, kind] = named.split(' ');
    const text = manifests([{ apiVersion, kind, ...body }]);
    const reviewed = await reviewText(t, text, { profile: 'cilium' });
    assert.deepEqual(
      [reviewed.reported, reviewed.faults],
      [at.map(() => `injected profile-applies ${kind} shop/a`), []],
    );
    assert.deepEqual(reviewed.summary.otherObjects, at.length === 0 ? { [kind]: 1 } : {});
    let patched = parse(text);
    for (const [index, workload] of reviewed.json().workloads.entries()) {
      const patch: Operation[] = workload.patch;
      assert.ok(patch.every(({ path }) => path.startsWith(`${at[index]}/`)));
      patched = jsonpatch.applyPatch(patched, patch, true).newDocument;
    }
    for (const pointer of at) {
      const first = jsonpatch.getValueByPointer(patched, `${pointer}/spec/initContainers/0/name`);
      assert.equal(first, 'cni-gate-validator');
    }
    // if an operator names the containers later, `review` invents names, but does not write them to its output
    assert.deepEqual(parse(reviewed.yaml()), patched);
  });
}

test('Lists are expanded, also nested ones, and typed lists whose items omit the kind', async (t) => {
  const item = (name: string) => ({ metadata: { name, namespace: 'shop' }, spec: { containers: [] } });
  const full = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', ...item(name) });
  const list = (kind: string, items: object[]) => ({ apiVersion: 'v1', kind, items });
  const nested = list('List', [full('a'), list('List', [full('b')]), { apiVersion: 'v1', kind: 'Service' }]);
  const documents = [nested, list('PodList', [item('c')]), [full('d')], list('List', [])];
  const reviewed = await reviewText(t, documents.map((one) => JSON.stringify(one)).join('\n'), {
    profile: 'cilium',
  });
  assert.deepEqual(
    reviewed.reported,
    ['a', 'b', 'c', 'd'].map((name) => `injected profile-applies Pod shop/${name}`),
  );
  assert.deepEqual(reviewed.summary.otherObjects, { Service: 1 });
});

test('items of a YAML List have their lines, and stay in the List', async (t) => {
  const items = ['a', 'b']
    .map((name) => `- ${pod(name).trimEnd().replaceAll('\n', '\n  ')}\n`)
    .join('# between\n');
  const text = `# head\napiVersion: v1\nkind: List\nitems:\n${items}`;
  const reviewed = await reviewText(t, text, { profile: 'cilium' });
  assert.deepEqual(
    reviewed.report.reviewed.map((one) => one.workload.line),
    [5, 15],
  );
  const patched = reviewed.yaml();
  assert.equal(parse(patched).items[1].spec.initContainers[0].name, 'cni-gate-validator');
  // each diff is relative to its own item
  const diffs = reviewed.text().split(/^injected /m);
  assert.match(diffs[1] ?? '', /@@ -3,/);
  assert.doesNotMatch(diffs[1] ?? '', /name: b$/m);
});

test('review.kinds adds kinds, and replaces the built-in entries of a kind', async (t) => {
  const kinds = [
    { apiVersion: 'example.com/v1', kind: 'Farm', path: 'spec.barns.*.stalls.*.pod' },
    { apiVersion: 'ray.io/*', kind: 'RayCluster', path: 'spec.headGroupSpec.template' },
  ];
  const template = '$template';
  const farm = { kind: 'Farm', spec: { barns: { red: { stalls: [{ pod: template }] } } } };
  const cluster = { headGroupSpec: { template }, workerGroupSpecs: [{ template }] };
  const text = manifests([
    { apiVersion: 'example.com/v1', ...farm },
    { apiVersion: 'example.com/v2', ...farm },
    { apiVersion: 'ray.io/v1', kind: 'RayCluster', spec: cluster },
    { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', spec: { template } },
  ]);
  const flags = flagsOf({ profile: 'cilium', config: { review: { kinds } } });
  const { json, summary } = await reviewText(t, text, flags);
  assert.deepEqual(
    json().workloads.map(({ outcome, kind, part }) => [outcome, kind, part]),
    [
      ['injected', 'Farm', 'spec.barns.red.stalls[0].pod'],
      ['injected', 'RayCluster', undefined],
      ['injected', 'Rollout', undefined],
    ],
  );
  assert.deepEqual(summary.otherObjects, { Farm: 1 });
});

test('template actions in quotes, block scalars and comments are data', async (t) => {
  const text = `${pod('a').replace('image: app:1', 'image: "app:{{ tag }}"')}      # {{ a comment }}
      command: ['{{ "quoted" }}', "{% raw %}"]
      args:
        - |
          {{ range .Alerts }}
          {% for x in y %}
          {{ end }}
        - >-
          {{inputs.parameters.message}}
        - summary of {{ $labels.instance }}
`;
  const { faults } = await reviewText(t, text, { profile: 'cilium' });
  assert.deepEqual(faults, []);
});

test('a Namespace after its workloads, in another file or in a List sets the profile', async (t) => {
  const list = `apiVersion: v1\nkind: List\nitems:\n- ${namespaceOf('tools', 'cilium').replaceAll('\n', '\n  ')}`;
  const { reported } = await reviewFiles(t, {
    'a.yaml': manifests(['Pod a', 'Namespace shop cilium']),
    'b.yaml': manifests(['Pod b other', 'Pod c tools']),
    'c.yaml': [namespaceOf('other', 'aws-vpc-cni'), list].join('---\n'),
  });
  assert.deepEqual(reported, [
    'injected profile-applies Pod shop/a',
    'injected profile-applies Pod other/b',
    'injected profile-applies Pod tools/c',
  ]);
});

test("a Namespace's annotations set the ids that a mesh exempts", async (t) => {
  const annotations = {
    'config.linkerd.io/proxy-uid': '64532',
    'config.linkerd.io/proxy-gid': '3000',
    note: 'a',
  };
  const reviewed = await reviewText(
    t,
    manifests([
      { namespace: 'shop', profile: 'linkerd', annotations },
      { containers: [{ name: 'linkerd-proxy', image: 'proxy:1' }] },
    ]),
  );
  assert.deepEqual(reviewed.faults, []);
  assert.match(reviewed.yaml(), /"notAsUser":64532,"notAsGroup":3000/);
  assert.match(reviewed.yaml(), /runAsUser: 65534\n\s*runAsGroup: 65534\n/);
});
