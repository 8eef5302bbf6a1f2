import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { V1Deployment } from '@kubernetes/client-node';
import { parse, parseAllDocuments } from 'yaml';
import { servingSecret, versionIn } from '../../../webhook/report/observe/installation.ts';

const manifests = fileURLToPath(new URL('../../../manifests/', import.meta.url));
const ofManifest = (path: string): V1Deployment => parse(readFileSync(`${manifests}${path}`, 'utf8'));
const ofPods = (spec: object): V1Deployment => ({
  spec: { selector: {}, template: { spec: { containers: [], ...spec } } },
});

test('the Secret of the serving certificate: of --tls-secret, or behind the file of --tls-cert', () => {
  const withArgs = (...args: string[]): V1Deployment => ofPods({ containers: [{ name: 'cni-gate', args }] });
  const cases: [V1Deployment, object | undefined][] = [
    [ofManifest('base/deployment.yaml'), { name: 'cni-gate-tls', key: 'tls.crt', isAuthority: true }],
    [
      ofManifest('components/files/deployment.yaml'),
      { name: 'cni-gate-serving', key: 'tls.crt', isAuthority: false },
    ],
    [withArgs('--tls-secret', 'own'), { name: 'own', key: 'tls.crt', isAuthority: true }],
    [withArgs('serve'), undefined],
  ];
  for (const [object, secret] of cases) assert.deepEqual(servingSecret(object), secret);
});

test('the version is the tag of the image of our container', () => {
  for (const [image, version] of [
    ['registry.example.com:5000/cni-gate:0.0.9', '0.0.9'],
    [`registry.example.com:5000/cni-gate:0.0.9@sha256:${'a'.repeat(64)}`, '0.0.9'],
    [`registry.example.com:5000/cni-gate@sha256:${'a'.repeat(64)}`, undefined],
  ]) {
    const containers = [
      { name: 'proxy', image: 'proxy:1' },
      { name: 'cni-gate', image },
    ];
    assert.equal(versionIn(ofPods({ containers })), version);
  }
});

test('overlays and components change nothing that is compared, except that they remove conditions', () => {
  const paths = globSync('{overlays,components,compose}/**/*.yaml', { cwd: manifests });
  const documents = paths.flatMap((file) =>
    parseAllDocuments(readFileSync(`${manifests}${file}`, 'utf8')).map((document) => document.toJS() ?? {}),
  );
  const isOurs = (kind: string | undefined): boolean => kind?.endsWith('WebhookConfiguration') === true;
  const configurations = documents.filter(({ kind }) => isOurs(kind));
  assert.ok(configurations.length >= 3, 'the patches were not found');
  const fields = configurations.flatMap(({ webhooks }) => (webhooks ?? []).flatMap(Object.keys));
  assert.deepEqual(
    fields.filter((field) => !['name', 'failurePolicy'].includes(field)),
    [],
  );
  const inline = documents
    .flatMap(({ patches }) => patches ?? [])
    // the component proof-only deletes objects of many kinds
    .filter(({ target, patch }) => isOurs(target?.kind) && !patch?.includes('$patch: delete'));
  const operations = inline.flatMap(({ patch }) => (patch === undefined ? [] : parse(patch)));
  assert.ok(operations.length > 0, 'the component no-opt-out was not found');
  for (const { op, path } of operations)
    assert.ok(op === 'test' || (op === 'remove' && /\/matchConditions\/\d+$/.test(path)), `${op} ${path}`);
});
