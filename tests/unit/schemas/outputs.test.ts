import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isWell, show } from '../../../certs/manual.ts';
import { bundleOf, newAuthority, secretData } from '../../../certs/rotation.ts';
import { createProgram } from '../../../webhook/commands/program.ts';
import { readPolicy } from '../../../webhook/config/load.ts';
import { verdicts } from '../../../webhook/core/facts/pod-evidence.ts';
import { states } from '../../../webhook/core/networks/daemon-set-status.ts';
import { proofStates, withoutProofText } from '../../../webhook/report/observe/pods.ts';
import { statusOf } from '../../../webhook/report/show/status.ts';
import { folderWith, namespaceOf, pod, reviewFiles, reviewNames } from '../../review/support.ts';
import { World } from '../../support/certs/world.ts';
import { schemaFaults } from '../../support/schemas.ts';
import { now } from '../core/networks/objects.ts';
import { troubled } from '../report/troubled.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const schema = (name: string) => JSON.parse(readFileSync(join(root, 'schemas', name), 'utf8'));

suite('review --output json', () => {
  const faults = schemaFaults('review');
  const labelled = (name: string, profile: string): string =>
    pod(name).replace('metadata:', `metadata:\n  labels: {cni-gate.io/profile: ${profile}}`);

  test('every outcome, findings and errors', async (t) => {
    const meshed = pod('meshed', 'mesh').replace(
      'metadata:',
      'metadata:\n  annotations: {linkerd.io/inject: enabled}',
    );
    const files = {
      'a.yaml': [
        namespaceOf('shop', 'cilium'),
        namespaceOf('mesh', 'linkerd'),
        pod('good'),
        meshed,
        labelled('refused', 'nowhere'),
        labelled('optedout', 'none'),
        pod('elsewhere', 'elsewhere'),
        'apiVersion: v1\nkind: Service\nmetadata: {name: a}\n',
        'apiVersion: example.com/v1\nkind: Odd\nmetadata: {name: odd, namespace: shop}\nspec: {template: {spec: {containers: [{name: a, image: b}]}}}\n',
      ].join('---\n'),
      'b.yaml': 'a: b: c\n',
    };
    for (const assumeMeshed of [false, true]) {
      const report = (await reviewFiles(t, files, { assumeMeshed })).json();
      assert.deepEqual(faults(report), []);
      assert.ok(report.findings.length > 0 && report.errors.length > 0);
      assert.equal(
        report.workloads.some((one) => one.assumed !== undefined),
        assumeMeshed,
      );
    }
  });

  test('without a workload', async (t) => {
    const names = [folderWith(t, { 'a.yaml': namespaceOf('shop', 'cilium') })];
    const admission = { policy: readPolicy(undefined), profile: undefined };
    assert.deepEqual(faults((await reviewNames({ names, namespace: 'default', admission })).json()), []);
  });
});

suite('status --output json', () => {
  const faults = schemaFaults('status');
  test('a cluster in trouble', () => {
    const status = statusOf(troubled(), { now, all: true });
    assert.deepEqual(faults(status), []);
    assert.equal(faults({ ...status, result: 'perfect' }).length, 1);
  });

  test('all states that the code knows, and no others', () => {
    const { definitions, properties } = schema('status.json');
    assert.deepEqual(definitions.state.enum, states);
    assert.deepEqual(properties.failedPods.items.properties.verdict.enum, verdicts);
    assert.deepEqual(definitions.proofs.required, proofStates);
    assert.deepEqual(properties.podsWithoutProof.items.properties.reason.enum, Object.keys(withoutProofText));
  });
});

suite('certs show --output json', () => {
  const faults = schemaFaults('certs-show');
  const world = new World();
  const shared = world.shared(async () => {});
  const [authority, next] = [newAuthority(365, world.now()), newAuthority(365, world.now())];

  test('nothing, and each phase of a rotation, with a complete and a wrong caBundle', async () => {
    assert.deepEqual(faults(await show(shared)), []);
    const created = { authority };
    world.setBundle('mutating/cni-gate', bundleOf(created));
    world.setBundle('validating/cni-gate', 'garbage');
    const promoted = { authority: next, previous: [authority] };
    const phases = { settled: created, waiting: { authority, next }, switched: promoted };
    for (const [phase, state] of Object.entries(phases)) {
      world.setSecret(secretData(state));
      const shown = await show(shared);
      assert.deepEqual([shown.phase, shown.configurations.length], [phase, 2]);
      assert.deepEqual(faults(shown), []);
    }
    world.setSecret({ 'tls.crt': 'garbage' });
    const damaged = await show(shared);
    assert.ok(damaged.faults.length > 0);
    assert.deepEqual(faults(damaged), []);
  });
});

test('certs show: a certificate that cni-gate does not manage is no fault, and an empty caBundle is', async () => {
  const world = new World();
  const shared = world.shared(async () => {});
  const { certificate } = newAuthority(365, world.now());
  world.setBundle('mutating/cni-gate', certificate);
  world.setBundle('validating/cni-gate', certificate);
  assert.equal(isWell(await show(shared)), false);
  const shown = await show(shared, false);
  assert.deepEqual([shown.phase, isWell(shown)], ['not-managed', true]);
  assert.deepEqual(schemaFaults('certs-show')(shown), []);
  world.setBundle('validating/cni-gate', '');
  assert.equal(isWell(await show(shared, false)), false);
});

test('each command that prints JSON has a schema', () => {
  const commands = createProgram().commands.flatMap((command) => [command, ...command.commands]);
  const named = commands
    .filter(({ options }) => options.some(({ argChoices }) => argChoices?.includes('json')))
    .map((command) => [command.parent?.name(), command.name()].join('-').replace('cni-gate-', ''));
  assert.deepEqual(named.toSorted(), ['certs-show', 'check', 'review', 'status']);
  for (const name of named) assert.equal(typeof schema(`${name}.json`).title, 'string');
});

suite('addresses', () => {
  const base = 'https://raw.githubusercontent.com/cni-gate/cni-gate/main/';

  test('each schema has the address of its own file', () => {
    const names = globSync('*.json', { cwd: join(root, 'schemas') }).filter(
      (name) => name !== 'catalog-entry.json',
    );
    assert.deepEqual(names.toSorted(), ['certs-show.json', 'check.json', 'review.json', 'status.json']);
    for (const name of names) assert.equal(schema(name).$id, `${base}schemas/${name}`);
  });

  test("SchemaStore's entry: the configuration's schema, and names of files that no other project has", () => {
    const { name, description, fileMatch, url, ...rest } = schema('catalog-entry.json');
    assert.deepEqual(rest, {});
    assert.ok(name.length > 0 && description.length > 0 && fileMatch.length > 0);
    for (const pattern of fileMatch) assert.match(pattern, /cni-gate\.ya?ml$/);
    assert.ok(url.startsWith(base));
    const configuration = JSON.parse(readFileSync(join(root, url.slice(base.length)), 'utf8'));
    assert.deepEqual([configuration.title, configuration.$id], ['cni-gate configuration', url]);
  });
});
