import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments, stringify } from 'yaml';
import { policiesCommand } from '../../../webhook/commands/policies.ts';
import { parsePolicy } from '../../../webhook/config/load.ts';
import { policyObjects } from '../../../webhook/core/policies/policy.ts';
import { validatorImage } from '../../../webhook/lib/version.ts';
import { cniGate, errorOf } from '../../support/command.ts';

const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
process.once('exit', () => rmSync(folder, { recursive: true }));

function written(name: string, configuration: object): string {
  const file = join(folder, name);
  writeFileSync(
    file,
    stringify({ apiVersion: 'cni-gate.io/v1alpha1', kind: 'Configuration', ...configuration }),
  );
  return file;
}

interface Printed {
  kind: string;
  metadata: { name: string };
  spec: {
    variables: { name: string; expression: string }[];
    matchConditions: { name: string; expression: string }[];
  };
}

function printed(...args: string[]): [policy: Printed, binding: Printed] {
  const { status, stdout, stderr } = cniGate(['policies', ...args]);
  assert.deepEqual([status, stderr], [0, '']);
  return parseAllDocuments(stdout, { version: '1.1' }).map((document) => document.toJS()) as [
    Printed,
    Printed,
  ];
}

const imageIn = ({ spec }: Printed): unknown =>
  spec.variables.find(({ name }) => name === 'image')?.expression;

test('the policy and its binding, as the generator makes them', () => {
  const objects = printed();
  assert.deepEqual(objects, JSON.parse(JSON.stringify(policyObjects(parsePolicy()))));
  assert.deepEqual(
    objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`),
    ['MutatingAdmissionPolicy/pods.cni-gate.io', 'MutatingAdmissionPolicyBinding/pods.cni-gate.io'],
  );
});

test("the image is the configuration's, or else the flag's, or else this release's", () => {
  const own = written('image.yaml', { proof: { image: 'mirror.example/validator:1' } });
  const flag = ['--image', 'flag.example/validator:2'];
  assert.equal(imageIn(printed('--config', own, ...flag)[0]), '"mirror.example/validator:1"');
  assert.equal(imageIn(printed(...flag)[0]), '"flag.example/validator:2"');
  assert.equal(imageIn(printed()[0]), `"${validatorImage}"`);
});

test('the exemptions follow proof.allowOptOut, and the DaemonSets of the profiles', () => {
  const profiles = [{ name: 'fabric', daemonSets: [{ namespace: 'net', name: 'fabric' }] }];
  const own = written('conditions.yaml', { proof: { allowOptOut: false }, profiles });
  const [before = '', after = ''] = [printed(), printed('--config', own)].map(([{ spec }]) =>
    JSON.stringify(spec),
  );
  const [optOut, daemonSet] = [/!= 'none'/, /'net\/fabric'/];
  assert.deepEqual([optOut.test(before), daemonSet.test(before)], [true, false]);
  assert.deepEqual([optOut.test(after), daemonSet.test(after)], [false, true]);
});

test('the order of keys in the file does not matter, as Helm sorts them', () => {
  const redirect = { direction: 'inbound', listen: 15006, connect: ['127.0.0.6:15002'], timeout: '5s' };
  const sorted = { connect: redirect.connect, direction: 'inbound', listen: 15006, timeout: '5s' };
  const [given, ofHelm] = [redirect, sorted].map((settings, at) =>
    cniGate([
      'policies',
      '--config',
      written(`order-${at}.yaml`, {
        profiles: [{ name: 'mesh', proof: { checks: [{ redirect: settings }] } }],
      }),
    ]),
  );
  assert.deepEqual([given?.status, given?.stdout], [0, ofHelm?.stdout]);
});

test('texts of the configuration stay as they are', () => {
  const when = { container: 'web', args: ['--in=variables.inits'] };
  const own = written('texts.yaml', { profiles: [{ name: 'own', when, proof: { checks: [] } }] });
  const { stdout } = cniGate(['policies', '--config', own]);
  assert.match(stdout.replaceAll(/\s+/g, ' '), /"--in=variables\.inits"/);
});

test('a configuration that cannot be used is an error with its code', async (t) => {
  for (const [file, code] of [
    ['/nowhere', 'CNI_GATE_CONFIG_UNREADABLE'],
    [written('wrong.yaml', { proof: { mode: 'maybe' } }), 'CNI_GATE_CONFIG_INVALID'],
  ] as const)
    assert.match(await errorOf(t, policiesCommand(), ['--config', file]), new RegExp(`\\(${code}\\)$`));
});
