import assert from 'node:assert/strict';
import { test } from 'node:test';
import jsonpatch, { type Operation } from 'fast-json-patch';
import { parse } from 'yaml';
import { namespaceOf, pod, reviewText } from './support.ts';

const template = {
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'app', image: 'app:1' }] },
};

/** Each kind, its API versions, and an object of it with the path of its pod template. */
const kinds: [kind: string, versions: string[], body: object, path: string][] = [
  ['Deployment', ['apps/v1'], { spec: { template } }, '/spec/template'],
  ['StatefulSet', ['apps/v1'], { spec: { template } }, '/spec/template'],
  ['DaemonSet', ['apps/v1'], { spec: { template } }, '/spec/template'],
  ['ReplicaSet', ['apps/v1'], { spec: { template } }, '/spec/template'],
  ['ReplicationController', ['v1'], { spec: { template } }, '/spec/template'],
  ['Job', ['batch/v1'], { spec: { template } }, '/spec/template'],
  [
    'CronJob',
    ['batch/v1'],
    { spec: { jobTemplate: { spec: { template } } } },
    '/spec/jobTemplate/spec/template',
  ],
  ['PodTemplate', ['v1'], { template }, '/template'],
  ['Pod', ['v1'], { spec: template.spec }, ''],
];

for (const [kind, versions, body, path] of kinds) {
  for (const apiVersion of versions) {
    test(`${apiVersion} ${kind} is reviewed, and patched at ${path || 'itself'}`, async (t) => {
      const object = { apiVersion, kind, metadata: { name: 'a', namespace: 'shop' }, ...body };
      const reviewed = await reviewText(t, JSON.stringify(object), { profile: 'cilium' });
      assert.deepEqual(reviewed.reported, [`injected promised ${kind} shop/a`]);
      const patch = reviewed.json().workloads[0]?.patch as Operation[];
      assert.ok(patch.every((operation) => operation.path.startsWith(`${path}/`)));
      const patched = jsonpatch.applyPatch(structuredClone(object), patch, true).newDocument;
      const first = jsonpatch.getValueByPointer(patched, `${path}/spec/initContainers/0/name`);
      assert.equal(first, 'cni-gate-validator');
      assert.deepEqual(parse(reviewed.yaml()), patched);
    });
  }
}

test('objects without pods, and kinds of another group, are counted', async (t) => {
  const others = ['policy/v1 Deployment', 'v1 Service', 'v1 Service'];
  const text = others.map((other) => {
    const [apiVersion, kind] = other.split(' ');
    return JSON.stringify({ apiVersion, kind, metadata: { name: 'a' }, spec: { template } });
  });
  const { summary, reported } = await reviewText(t, [...text, '{"replicas": 3}'].join('\n---\n'), {
    profile: 'cilium',
  });
  assert.deepEqual(reported, []);
  assert.deepEqual(summary.otherObjects, { Deployment: 1, Service: 2, 'no kind': 1 });
});

test('Lists are expanded, also nested ones, and typed lists whose items omit the kind', async (t) => {
  const item = (name: string) => ({ metadata: { name, namespace: 'shop' }, spec: template.spec });
  const full = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', ...item(name) });
  const list = (kind: string, items: object[]) => ({ apiVersion: 'v1', kind, items });
  const nested = list('List', [full('a'), list('List', [full('b')]), { apiVersion: 'v1', kind: 'Service' }]);
  const documents = [nested, list('PodList', [item('c')]), [full('d')], list('List', [])];
  const reviewed = await reviewText(t, documents.map((one) => JSON.stringify(one)).join('\n'), {
    profile: 'cilium',
  });
  assert.deepEqual(
    reviewed.reported,
    ['a', 'b', 'c', 'd'].map((name) => `injected promised Pod shop/${name}`),
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
  assert.match(patched, /\n# between\n- apiVersion: v1\n/);
  // each diff is about its own item
  const diffs = reviewed.text().split(/^injected /m);
  assert.match(diffs[1] ?? '', /@@ -7,/);
  assert.doesNotMatch(diffs[1] ?? '', /name: b$/m);
});

test('items of a JSON List have their lines', async (t) => {
  const items = ['a', 'b'].map((name) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, annotations: { '{"items":[{': '"}]\\' } },
    spec: template.spec,
  }));
  const list = { apiVersion: 'v1', metadata: { other: [{}, {}] }, items, kind: 'List' };
  for (const value of [list, items]) {
    const text = JSON.stringify(value, null, 2);
    const reviewed = await reviewText(t, `\n${text}`, { profile: 'cilium' });
    const lines = text.split('\n');
    const expected = items.map(({ metadata: { name } }) => {
      const named = lines.findIndex((line) => line.includes(`"name": "${name}"`));
      // the line of the opening brace: apiVersion, kind and metadata are between, and counting begins with 1
      return named - 4 + 1 + 1;
    });
    assert.deepEqual(
      reviewed.report.reviewed.map((one) => one.workload.line),
      expected,
    );
  }
});

test("a template without metadata gets the pod's metadata", async (t) => {
  for (const metadata of ['', '      metadata:\n', '      metadata: {}\n']) {
    const text = `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n    template:\n${metadata}      spec:\n        containers: [{name: app, image: app}]\n`;
    const reviewed = await reviewText(t, text, { profile: 'cilium' });
    const { metadata: patched } = parse(reviewed.yaml()).spec.template;
    assert.deepEqual(patched.labels, { 'cni-gate.io/profile': 'cilium' });
    const patch = reviewed.json().workloads[0]?.patch as Operation[];
    const applied = jsonpatch.applyPatch(parse(text), patch, true).newDocument;
    assert.deepEqual(applied, parse(reviewed.yaml()));
  }
});

test("pods of a network's DaemonSet are exempt, those of a Deployment of the same name are not", async (t) => {
  const own = (kind: string) =>
    JSON.stringify({
      apiVersion: 'apps/v1',
      kind,
      metadata: { name: 'linkerd-cni', namespace: 'linkerd-cni' },
      spec: { template },
    });
  const { reported } = await reviewText(
    t,
    [own('DaemonSet'), own('Deployment'), namespaceOf('linkerd-cni', 'cilium')].join('\n---\n'),
  );
  assert.deepEqual(reported, [
    'skipped network-daemonset DaemonSet linkerd-cni/linkerd-cni',
    'injected promised Deployment linkerd-cni/linkerd-cni',
  ]);
});
