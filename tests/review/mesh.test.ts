import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { suite, type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import { head } from '../support/configurations.ts';
import { manifests, tables } from './manifests.ts';
import { type Flags, type Reviewed, reviewText } from './support.ts';

/** A case: its Namespace and its workload, in the short forms of manifests.ts. */
interface Case {
  title: string;
  profile: string;
  namespace?: Record<string, unknown>;
  pod?: Record<string, unknown>;
  /** The workload after the mesh's injector has changed it. */
  injected?: Record<string, unknown>;
  /** The command that runs the mesh's injector. The message of the finding must contain it. */
  command?: string;
}

/** The cases of all meshes, from one file for each mesh. */
const cases: Record<string, Case[]>[] = globSync('mesh-*.yaml', { cwd: import.meta.dirname }).map(tables);
const casesOf = (outcome: string): Case[] => cases.flatMap((table) => table[outcome] ?? []);

const reviewed = (t: TestContext, { profile, namespace, pod = {} }: Case, flags?: Flags): Promise<Reviewed> =>
  reviewText(t, manifests([{ namespace: 'shop', profile, ...namespace }, pod]), flags);

const missing = ({ findings }: Reviewed): string[] =>
  findings.filter((finding) => finding.startsWith('PROXY_MISSING'));

suite('a pod without its proxy is a finding', () => {
  for (const one of casesOf('waiting')) {
    test(one.title, async (t) => {
      const found = await reviewed(t, one);
      assert.deepEqual(missing(found), [`PROXY_MISSING ${one.pod?.kind ?? 'Deployment'} shop/web`]);
      const message = found.report.findings[0]?.message ?? '';
      assert.ok(message.includes(one.command ?? ''), message);
      assert.match(message, /--assume-meshed/);
      assert.match(found.text(), /^ {2}warning: requests \S+ and has no/m);
      assert.match(found.text(true), /^ {2}error: requests/m);
    });
  }
});

suite('no finding, and --assume-meshed changes nothing', () => {
  for (const one of casesOf('silent')) {
    test(one.title, async (t) => {
      const found = await reviewed(t, one);
      assert.deepEqual(missing(found), []);
      const assumed = await reviewed(t, one, { assumeMeshed: true });
      assert.deepEqual(assumed.reported, found.reported);
      assert.equal(assumed.yaml(), found.yaml());
    });
  }
});

/** The pod template of the workload in the YAML output. */
// biome-ignore lint/suspicious/noExplicitAny: any of its fields
const templateOf = (one: Reviewed): any => parse(one.yaml().split('---\n')[1] ?? '').spec.template;

suite('--assume-meshed: a pod gets the patch of the meshed pod, without a proxy', () => {
  for (const one of casesOf('meshed')) {
    test(one.title, async (t) => {
      const assumed = await reviewed(t, one, { assumeMeshed: true });
      const real = await reviewed(t, { ...one, pod: one.injected ?? {} });
      assert.deepEqual(assumed.findings, []);
      const { checks, profiles, assumed: named } = assumed.json().workloads[0] ?? {};
      assert.deepEqual(named, [one.title]);
      const [expected] = real.json().workloads;
      assert.deepEqual([checks, profiles], [expected?.checks, expected?.profiles]);
      const template = templateOf(assumed);
      assert.deepEqual(template.spec.initContainers, [templateOf(real).spec.initContainers[0]]);
      assert.deepEqual(template.spec.containers, [{ name: 'app', image: 'app:1' }]);
      const keys = [...Object.keys(one.pod?.annotations ?? {}), 'cni-gate.io/status'];
      assert.deepEqual(Object.keys(template.metadata.annotations), keys);
      assert.ok(assumed.text().includes(`  note: checked as if the injector of ${one.title} had run\n`));
      assert.doesNotMatch(real.text(), /as if the injector/);
    });
  }
});

test('--assume-meshed works with the `when` of a custom profile for any container of the mesh', async (t) => {
  const config = `${head}profiles:
  - name: mine
    when:
      - container: linkerd-network-validator
        labels: {tier: web}
        annotations:
          linkerd.io/created-by: {exists: true}
          config.linkerd.io/mode: {notIn: [skip]}
          example.com/checked: done
    proof: {container: {imageOf: linkerd-network-validator, asUser: 1337}}
`;
  const flags = { config, assumeMeshed: true };
  const namespace = { annotations: { 'linkerd.io/inject': 'enabled' } };
  const asking: Case = { title: 'mine', profile: 'mine', namespace };
  for (const [labels, annotations, outcome] of [
    [{ tier: 'web' }, { 'example.com/checked': 'done' }, 'injected'],
    [{ tier: 'db' }, { 'example.com/checked': 'done' }, 'skipped'],
    [{ tier: 'web' }, {}, 'skipped'],
    [{ tier: 'web' }, { 'example.com/checked': 'done', 'config.linkerd.io/mode': 'skip' }, 'skipped'],
  ] as const) {
    const one = await reviewed(t, { ...asking, pod: { labels, annotations } }, flags);
    assert.deepEqual(one.faults, []);
    assert.equal(one.report.reviewed[0]?.decision.outcome, outcome);
    const image = outcome === 'injected' ? 'image-of-linkerd-network-validator' : undefined;
    assert.equal(templateOf(one).spec.initContainers?.[0].image, image);
  }
});
