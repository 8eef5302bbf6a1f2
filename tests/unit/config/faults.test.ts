import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { invalid, refusal } from '../../support/configurations.ts';

suite('a wrong configuration is refused with its file, line, path and what is allowed', () => {
  test('an unknown field', () => {
    assert.equal(
      refusal('proof:\n  mode: warn\n  images: x\n'),
      invalid(
        'cni-gate.yaml:5: proof.images: unknown field; allowed here: mode, image, imagePullPolicy, imagePullSecrets, allowOptOut',
      ),
    );
    assert.equal(
      refusal('profile: []\n'),
      invalid(
        'cni-gate.yaml:3: profile: unknown field; allowed here: apiVersion, kind, proof, gate, steer, repair, profiles, review',
      ),
    );
    assert.equal(
      refusal('repair: {mode: "off", perHour: 7}\n'),
      invalid(
        'cni-gate.yaml:3: repair.perHour: unknown field; allowed here: mode, perNodePerMinute, perOwnerPerMinute, perMinute, owners',
      ),
    );
    assert.equal(
      refusal('profiles:\n  - name: a\n    when: {pod: b}\n'),
      invalid(
        'cni-gate.yaml:5: profiles[0].when.pod: unknown field; allowed here: container, args, env, noContainer, labels, annotations, namespaceLabels',
      ),
    );
  });

  test('a wrong type or value', () => {
    assert.equal(
      refusal('proof:\n  imagePullSecrets: mirror\n'),
      invalid(
        'cni-gate.yaml:4: proof.imagePullSecrets: must be array, is "mirror" (Names of Secrets in the pod\'s own namespace, added to the pod\'s list.)',
      ),
    );
    assert.equal(
      refusal('proof: {mode: strict}\n'),
      invalid('cni-gate.yaml:3: proof.mode: must be one of enforce, warn, is "strict"'),
    );
    assert.equal(
      refusal('gate: {maxHold: 10 minutes}\n'),
      invalid(
        'cni-gate.yaml:3: gate.maxHold: "10 minutes" is not allowed (a number and a unit, such as 500ms, 10s, 2m or 1h)',
      ),
    );
    assert.equal(refusal('[]\n', true), invalid('cni-gate.yaml:1: the document: must be object, is []'));
    assert.equal(refusal('', true), invalid('cni-gate.yaml:1: the document: must be object, is null'));
  });

  test('another kind of file', () => {
    assert.equal(
      refusal('apiVersion: v1\nkind: ConfigMap\n', true),
      invalid(
        'cni-gate.yaml:1: apiVersion: must be "cni-gate.io/v1alpha1", is "v1"',
        'cni-gate.yaml:2: kind: must be "Configuration", is "ConfigMap"',
      ),
    );
    assert.equal(
      refusal('kind: Configuration\n', true),
      invalid('cni-gate.yaml:1: the document: "apiVersion" is missing'),
    );
  });

  test('two profiles of the same name', () => {
    assert.equal(
      refusal('profiles:\n  - {name: linkerd}\n  - {name: mine}\n  - name: linkerd\n'),
      invalid('cni-gate.yaml:6: profiles[2].name: profile "linkerd" is already profiles[0]'),
    );
  });

  test('an invalid name, and the reserved name', () => {
    for (const name of ['none', 'Upper', 'a.b', 'a'.repeat(64)]) {
      assert.equal(
        refusal(`profiles:\n  - name: ${name}\n`),
        invalid(
          `cni-gate.yaml:4: profiles[0].name: ${name.length > 57 ? `"${name.slice(0, 56)}...` : `"${name}"`} is not allowed (lower-case letters, digits and dashes, at most 63; 'none' is reserved)`,
        ),
      );
    }
  });

  test('more than ten faults: ten are listed, the others counted', () => {
    const many = Array.from({ length: 13 }, (_, index) => `field-${index}: 1`).join('\n');
    const lines = refusal(many).split('\n');
    assert.equal(lines.length, 12);
    assert.equal(lines.at(-1), 'and 3 more');
  });
});
