import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments, stringify } from 'yaml';
import { policiesCommand } from '../../../webhook/commands/policies.ts';
import { parsePolicy } from '../../../webhook/config/load.ts';
import { policiesYaml, policyObjects } from '../../../webhook/core/policies/policy.ts';
import { validatorImage } from '../../../webhook/lib/version.ts';
import { cniGate, errorOf } from '../../support/command.ts';
import { folderWith } from '../../support/folder.ts';

const configuration = (fields: object): string =>
  stringify({ apiVersion: 'cni-gate.io/v1alpha1', kind: 'Configuration', ...fields });

/** What the command prints for a configuration with these fields, and for the value of the flag `--image`. */
const printed = (fields: object = {}, image?: string): string =>
  policiesYaml(parsePolicy(configuration(fields), 'config.yaml', image));

test('the command prints the policy of its configuration and its image, and the binding', (t) => {
  const fields = { proof: { allowOptOut: false } };
  const folder = folderWith(t, { 'config.yaml': configuration(fields) });
  const flags = ['--config', join(folder, 'config.yaml'), '--image', 'flag.example/validator:2'];
  const { status, stdout, stderr } = cniGate(['policies', ...flags]);
  assert.deepEqual([status, stdout, stderr], [0, printed(fields, 'flag.example/validator:2'), '']);
  const objects = parseAllDocuments(printed(), { version: '1.1' }).map((document) => document.toJS());
  assert.deepEqual(objects, JSON.parse(JSON.stringify(policyObjects(parsePolicy()))));
  assert.deepEqual(
    objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`),
    ['MutatingAdmissionPolicy/pods.cni-gate.io', 'MutatingAdmissionPolicyBinding/pods.cni-gate.io'],
  );
});

test("the image is the configuration's, or else the flag's, or else this release's", () => {
  const own = { proof: { image: 'mirror.example/validator:1' } };
  const flag = 'flag.example/validator:2';
  for (const [text, image] of [
    [printed(own, flag), own.proof.image],
    [printed({}, flag), flag],
    [printed(), validatorImage],
  ] as const)
    assert.match(text, new RegExp(`name: image\\n +expression: ["']*${image}["']*\\n`));
});

test('the exemptions follow proof.allowOptOut, and the DaemonSets of the profiles', () => {
  const profiles = [{ name: 'fabric', daemonSets: [{ namespace: 'net', name: 'fabric' }] }];
  const texts = [printed(), printed({ proof: { allowOptOut: false }, profiles })];
  assert.deepEqual(
    texts.map((text) => [/!= 'none'/.test(text), /'net\/fabric'/.test(text)]),
    [
      [true, false],
      [false, true],
    ],
  );
});

test('the order of keys in the file does not matter, because Helm sorts them', () => {
  const redirect = { direction: 'inbound', listen: 15006, connect: ['127.0.0.6:15002'], timeout: '5s' };
  const sorted = { connect: redirect.connect, direction: 'inbound', listen: 15006, timeout: '5s' };
  const labels = [
    { b: 'v', a: { in: ['w', 'u'] } },
    { a: { in: ['w', 'u'] }, b: 'v' },
  ];
  const [given, ofHelm] = [redirect, sorted].map((settings, at) => {
    const when = [{ labels: labels[at] }, { container: 'web', env: labels[at] }];
    return printed({ profiles: [{ name: 'mesh', when, proof: { checks: [{ redirect: settings }] } }] });
  });
  assert.equal(given, ofHelm);
});

test('texts from the configuration stay unchanged, and the policy is written in ASCII', () => {
  const args = ['--in=variables.inits', '\x7f\x85\ufffe\u{1f600}', '\ud800'];
  const text = printed({
    profiles: [{ name: 'own', when: { container: 'web', args }, proof: { checks: [] } }],
  });
  assert.match(text.replaceAll(/\s+/g, ' '), /"--in=variables\.inits"/);
  assert.match(text, /"\\U0000007f\\U00000085\\U0000fffe\\U0001f600".*"\\U0000fffd"/s);
  assert.match(text, /^[\n -~]*$/);
});

test('a configuration or an image that cannot be used is an error with its code', async (t) => {
  const wrong = join(folderWith(t, { a: configuration({ proof: { mode: 'maybe' } }) }), 'a');
  for (const [flag, value, code] of [
    ['--config', '/nowhere', 'CNI_GATE_CONFIG_UNREADABLE'],
    ['--config', wrong, 'CNI_GATE_CONFIG_INVALID'],
    ['--image', '', 'CNI_GATE_USAGE'],
  ] as const)
    assert.match(await errorOf(t, policiesCommand(), [flag, value]), new RegExp(`\\(${code}\\)$`));
});
