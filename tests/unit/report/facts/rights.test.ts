import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import {
  installRights,
  type Right,
  rightText,
  serverRights,
} from '../../../../webhook/report/facts/rights.ts';
import { policyOf } from '../../../support/configurations.ts';

const root = fileURLToPath(new URL('../../../../manifests/base/', import.meta.url));
// biome-ignore lint/suspicious/noExplicitAny: objects of many kinds, read by their paths
const objects = (path: string): any[] =>
  parseAllDocuments(readFileSync(root + path, 'utf8')).map((document) => document.toJS());

const options = { namespace: 'cni-gate', secret: 'cni-gate-tls' };
const texts = (rights: Right[]): string[] => [...new Set(rights.map(rightText))].toSorted();

test('with everything on, the service account needs what the manifests give it, and nothing else', () => {
  const given = objects('rights.yaml').flatMap(({ kind, metadata, rules = [] }) =>
    /^(?:Cluster)?Role$/.test(kind)
      ? rules.flatMap(
          (rule: { apiGroups: string[]; resources: string[]; resourceNames?: string[]; verbs: string[] }) =>
            rule.apiGroups.flatMap((group) =>
              rule.resources.flatMap((resource) =>
                (rule.resourceNames ?? [undefined]).flatMap((name) =>
                  rule.verbs.map((verb) => ({ verb, group, resource, name, namespace: metadata.namespace })),
                ),
              ),
            ),
        )
      : [],
  );
  const policy = policyOf({ repair: { mode: 'recreate' } });
  assert.deepEqual(texts(serverRights({ ...options, policy })), texts(given));
});

test('what the configuration turns off needs no right, nor do certificates from elsewhere', () => {
  const policy = policyOf({ repair: { mode: 'off' }, steer: { mode: 'off' } });
  const needed = texts(serverRights({ ...options, policy, secret: undefined }));
  assert.ok(needed.includes('list nodes'));
  for (const right of ['patch pods/status', 'delete pods', 'create secrets in namespace cni-gate'])
    assert.ok(!needed.includes(right), right);
  assert.ok(needed.every((right) => !right.includes('webhookconfigurations')));
});

test('the rights to install name every kind of the manifests', () => {
  const kinds = globSync('*.yaml', { cwd: root })
    .filter((path) => path !== 'kustomization.yaml')
    .flatMap(objects)
    .flatMap((object) => (typeof object?.kind === 'string' ? [object.kind] : []));
  const resources = new Set(installRights().map(({ resource }) => resource));
  const plural = (kind: string): string => kind.toLowerCase().replace(/y$/, 'ie').concat('s');
  assert.deepEqual([...resources].toSorted(), [...new Set(kinds.map(plural))].toSorted());
});
