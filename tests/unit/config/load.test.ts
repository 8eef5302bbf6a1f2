import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { builtInProfiles } from '../../../webhook/config/builtin.ts';
import { parseConfiguration } from '../../../webhook/config/load.ts';
import type { Policy } from '../../../webhook/core/profiles/policy.ts';
import { checkNameOf } from '../../../webhook/core/profiles/types.ts';
import { validatorImage } from '../../../webhook/lib/version.ts';
import { builtInNames, head, policyOf } from '../../support/configurations.ts';

suite('a valid configuration', () => {
  test('has the defaults', () => {
    const { proof, gate, steer, repair } = parseConfiguration();
    assert.deepEqual(
      { proof, gate, steer, repair },
      {
        proof: {
          mode: 'enforce',
          image: validatorImage,
          imagePullPolicy: 'IfNotPresent',
          imagePullSecrets: [],
          resources: {
            requests: { cpu: '2m', memory: '4Mi', 'ephemeral-storage': '1Mi' },
            limits: { cpu: '20m', memory: '24Mi', 'ephemeral-storage': '1Mi' },
          },
          allowOptOut: true,
        },
        gate: { mode: 'enforce', startupGrace: '2m', maxHold: '10m' },
        steer: { mode: 'nominate' },
        repair: {
          mode: 'audit',
          perNodePerMinute: 60,
          perOwnerPerMinute: 60,
          perMinute: 120,
          owners: [],
        },
      },
    );
  });

  test('accepts the mode off without quotes, which YAML 1.1 would read as false', () => {
    const { steer, repair } = parseConfiguration(
      `${head}steer: {mode: off}\nrepair: {mode: off}\n`,
      'c.yaml',
    );
    assert.deepEqual([steer.mode, repair.mode], ['off', 'off']);
  });

  test('false is not a mode, and a label may be yes or off', () => {
    assert.throws(() => parseConfiguration(`${head}repair: {mode: false}\n`, 'c.yaml'), /repair\.mode/);
    const when = '{labels: {mesh: yes}, annotations: {mesh: off}}';
    const { profiles } = parseConfiguration(`${head}profiles: [{name: own, when: ${when}}]\n`, 'c.yaml');
    assert.deepEqual(profiles.at(-1)?.when, { labels: { mesh: 'yes' }, annotations: { mesh: 'off' } });
  });

  test('may begin and end with the line ---', () => {
    assert.equal(parseConfiguration(`---\n---\n${head}---\n`, 'c.yaml').proof.mode, 'enforce');
    assert.throws(() => parseConfiguration(`${head}---\n${head}`, 'c.yaml'), /a second document begins here/);
  });

  test('has the built-in profiles; a custom profile of the same name replaces one', () => {
    const own = 'profiles:\n  - {name: mine}\n  - {name: linkerd, annotations: {a: b}}\n';
    const { profiles } = parseConfiguration(head + own, 'cni-gate.yaml');
    assert.deepEqual(
      profiles.map((profile) => profile.name),
      [...builtInNames.filter((name) => name !== 'linkerd'), 'mine', 'linkerd'],
    );
    assert.deepEqual(profiles.at(-1), {
      name: 'linkerd',
      when: {},
      daemonSets: [],
      annotations: { a: 'b' },
      proof: { checks: [] },
    });
    assert.equal(
      parseConfiguration().profiles.length,
      builtInNames.length,
      'one file does not affect the next',
    );
  });
});

/** The evidence that the gate requires for each profile. */
const of = (policy: Policy): Record<string, string> =>
  Object.fromEntries([...policy.profiles].map(([name, profile]) => [name, policy.evidenceOf(profile)]));

const proof = { checks: [{ address: {} }] };

suite('gate.evidence', () => {
  test('absent: what a profile sets, else ready', () => {
    const profiles = [
      { name: 'own', proof },
      { name: 'strict', evidence: 'proof', proof },
    ];
    const { linkerd, cilium, own, strict } = of(policyOf({ profiles }));
    assert.deepEqual([linkerd, cilium, own, strict], ['proof', 'ready', 'ready', 'proof']);
  });

  test('applies to the built-in profiles, and to others that do not set it', () => {
    const profiles = [
      { name: 'own', proof },
      { name: 'strict', evidence: 'proof', proof },
    ];
    const found = of(policyOf({ gate: { evidence: 'ready' }, profiles }));
    assert.deepEqual([found.linkerd, found.own, found.strict], ['ready', 'ready', 'proof']);
    const both = [{ name: 'own', proof }, { name: 'bare' }];
    const { bare, ...all } = of(policyOf({ gate: { evidence: 'proof' }, profiles: both }));
    assert.deepEqual(new Set(Object.values(all)), new Set(['proof']));
    assert.equal(bare, 'ready', 'a profile without a proof has to wait for one');
    // the setting of the policy above must not have changed the built-in profiles themselves
    assert.equal(of(policyOf()).cilium, 'ready');
  });
});

test('built-in profiles set no annotation and have no check that fails on a healthy network', () => {
  for (const { name, annotations, proof } of builtInProfiles()) {
    assert.deepEqual(annotations, {}, name);
    assert.ok(!proof.checks.map(checkNameOf).includes('reach'), name);
  }
});
