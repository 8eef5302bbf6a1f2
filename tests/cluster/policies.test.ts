import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { after, suite, test } from 'node:test';
import fc from 'fast-check';
import type { MutateContext } from '../../webhook/admission/mutate.ts';
import { FixedNamespaces, type NamespaceFacts } from '../../webhook/core/facts/namespace.ts';
import type { Pod } from '../../webhook/core/facts/pod.ts';
import type { LeftReason } from '../../webhook/core/policies/left.ts';
import type { Policy } from '../../webhook/core/profiles/policy.ts';
import { beginningOf, contextOf, readCase } from '../golden/case.ts';
import { answerTo, patched } from '../support/answers.ts';
import { creations } from '../support/arbitrary/creations.ts';
import { policyOf } from '../support/configurations.ts';
import { withoutReplaced } from '../support/invariants.ts';
import { qosClass } from '../support/qos.ts';
import { pod as podOf } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';
import { tryPod } from './installed/overlay.ts';
import {
  assertEqualOrLeft,
  type Comparison,
  compare,
  governed,
  hasStatus,
  installPolicy,
  plainNamespace,
  reasonOf,
} from './installed/policies.ts';
import { makeNamespace } from './installed/working.ts';

/*
 * With the MutatingAdmissionPolicy alone, the API server stores the same pods as with the webhook alone, unless the
 * policy leaves a pod to the webhook. The tests also check the webhook's patches, and the function `qosClass`, on which
 * unit tests rely.
 */

/** How many golden cases, with all their admission calls, the policy leaves to the webhook, by reason. */
const left: Partial<Record<LeftReason, number>> = {
  annotations: 8,
  'name-taken': 5,
  'opt-out': 2,
  'own-validator': 3,
  'profile-combination': 10,
  'skipped-ports': 4,
  'unknown-profile': 2,
  witness: 18,
};

/** Golden cases in which the API server itself refuses the pod of the first or a later call. */
const invalid: Record<string, RegExp> = {
  'again-tampered': /cannot set `allowPrivilegeEscalation` to false and `privileged` to true/,
  'ephemeral-in-an-exported-pod': /spec.ephemeralContainers: Forbidden/,
  'keys-with-tilde-and-slash': /metadata.labels: Invalid value/,
  'name-taken-beside-ours': /Duplicate value: "cni-gate-validator"/,
  'no-containers': /spec.containers: Required value/,
  'resources-invalid-quantity': /quantities must match/,
};

/** Golden cases that cannot occur when a pod is created in a cluster. */
const noCreations: Record<string, string> = {
  'ephemeral-added': 'an update',
  'namespace-unknown': 'the API server knows every namespace',
};

/** Golden cases whose result depends on the name of their namespace. */
const named = [
  ...['exempt-kube-system', 'exempt-own-namespace', 'recorded-daemonset-of-a-profile'],
  ...['daemonset-injected-before', 'daemonset-and-host-network', 'daemonset-and-windows'],
];

const folder = new URL('../golden/cases/', import.meta.url);
const cases = readdirSync(folder)
  .map((file) => ({ name: basename(file, '.yaml'), golden: readCase(new URL(file, folder)).golden }))
  .filter(({ name }) => noCreations[name] === undefined);
const configOf = ({ golden }: (typeof cases)[number]): string => JSON.stringify(golden.config ?? {});

const cluster = await startCluster();
await makeNamespace(cluster, plainNamespace);

/** Installs policies side by side. Returns their names. */
async function install(policies: Iterable<Policy>, prefix: string): Promise<Map<Policy, string>> {
  const names = new Map([...policies].map((policy, at) => [policy, `${prefix}${at}`]));
  await Promise.all([...names].map(([policy, name]) => installPolicy(cluster, policy, name, 'Never')));
  return names;
}

const factsIn = ({ namespaces }: MutateContext, name = 'shop'): NamespaceFacts =>
  namespaces.facts(name) as NamespaceFacts;

suite('golden cases', { concurrency: 8 }, () => {
  const policies = new Map(cases.map((one) => [configOf(one), policyOf(one.golden.config)]));
  const installed = install(policies.values(), 'golden-');
  const reasons = new Map<string, LeftReason | undefined>();
  after(() => {
    const all = [...reasons.values()].filter((reason) => reason !== undefined);
    const counts = Array.from(
      Map.groupBy(all, (reason) => reason),
      ([reason, of]) => [reason, of.length],
    );
    assert.deepEqual(Object.fromEntries(counts), left);
  });

  for (const [at, one] of cases.entries()) {
    const { name, golden } = one;
    test(name, async () => {
      const policy = policies.get(configOf(one));
      assert.ok(policy);
      const policyName = (await installed).get(policy) ?? '';
      const { pod, request } = beginningOf(golden);
      const context = contextOf(golden);
      const given = golden.namespace?.name ?? 'shop';
      const where = named.includes(name) ? given : `golden-${at}`;
      await governed(cluster, where, policyName, factsIn(context, given));
      let current = pod;
      for (const others of [[], ...(golden.calls ?? []).map((call) => call.others ?? [])]) {
        const result = await compare(cluster, where, patched(current, others), context, {
          ...request,
          namespace: given,
        });
        if (typeof result === 'string') {
          assert.match(result, invalid[name] ?? /^no message$/);
          return;
        }
        assertEqualOrLeft(result, factsIn(context, given), policy);
        const reason = reasonOf(result.byPolicy);
        if (!reasons.has(name)) reasons.set(name, reason);
        assert.equal(reason, reasons.get(name), 'each call of a case is left, or none');
        current = result.byWebhook ?? result.answered;
      }
      assert.equal(invalid[name], undefined, 'no call of the case was refused');
    });
  }
});

/** Asserts that the webhook keeps the QoS class of a new pod, and that a later call would change nothing. */
function assertKept({ bare, byWebhook, decision }: Comparison, context: MutateContext): void {
  if (byWebhook === undefined || hasStatus(bare)) return;
  const given = JSON.stringify(bare);
  // the stored pod has the defaults of the API server, which sets a missing request to the limit
  assert.deepEqual(bare.status, { qosClass: qosClass(bare) }, given);
  // an init container that the patch removes may have determined the class
  const kept = withoutReplaced(bare, decision, context.policy);
  assert.deepEqual(byWebhook.status, { qosClass: qosClass(kept) }, given);
  assert.deepEqual(answerTo(byWebhook, context).patch, [], given);
}

const seed = 31;
const wanted = 2000;

test(`${wanted} random pods, with seed ${seed}`, async (t) => {
  const policyNames = new Map<Policy, string>();
  const spaces = new Map<MutateContext, string>();
  const sampled = fc.sample(creations, { numRuns: 1.25 * wanted, seed });
  for (const { context } of sampled) {
    if (!policyNames.has(context.policy)) policyNames.set(context.policy, `random-${policyNames.size}`);
    if (!spaces.has(context)) spaces.set(context, `random-${spaces.size}`);
  }
  await Promise.all([...policyNames].map(([policy, name]) => installPolicy(cluster, policy, name)));
  await Promise.all(
    [...spaces].map(([context, name]) =>
      governed(cluster, name, policyNames.get(context.policy) ?? '', factsIn(context)),
    ),
  );

  const tally: Record<string, number> = { 'refused by the API server': 0 };
  const queue = sampled.values();
  const work = async (): Promise<void> => {
    for (const { pod, context } of queue) {
      const result = await compare(cluster, spaces.get(context) ?? '', pod, context);
      const end =
        typeof result === 'string'
          ? 'refused by the API server'
          : (reasonOf(result.byPolicy) ?? result.decision.outcome);
      if (typeof result !== 'string') {
        assertEqualOrLeft(result, factsIn(context), context.policy);
        assertKept(result, context);
      }
      tally[end] = (tally[end] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 12 }, work));
  t.diagnostic(JSON.stringify(tally));
  const { injected = 0, updated = 0, removed = 0, skipped = 0, current = 0 } = tally;
  assert.ok(sampled.length - (tally['refused by the API server'] ?? 0) >= wanted, JSON.stringify(tally));
  assert.ok(injected + updated + removed + skipped + current >= wanted / 2, JSON.stringify(tally));
  for (const end of ['injected', 'updated', 'removed', 'skipped', 'current', 'skipped-ports', 'opt-out'])
    assert.ok((tally[end] ?? 0) > 0, `no pod was ${end}: ${JSON.stringify(tally)}`);
});

test('proof.replaces removes every init container with the name, before the API server refuses duplicate names', async () => {
  const replaces = ['linkerd-network-validator'];
  const checks = [{ redirect: { listen: 4140, connect: ['192.0.2.2:1404'] } }];
  const policy = policyOf({ profiles: [{ name: 'mesh', proof: { checks, replaces } }] });
  await installPolicy(cluster, policy, 'twice');
  await governed(cluster, 'twice', 'twice', { labels: { 'cni-gate.io/profile': 'mesh' } });
  const names = [...replaces, 'migrate', ...replaces];
  const initContainers = names.map((name) => ({ name, image: 'example/web' }));
  const { spec } = await tryPod<Pod>(cluster, 'twice', podOf('web', { initContainers }));
  assert.deepEqual(
    spec.initContainers?.map(({ name }) => name),
    ['cni-gate-validator', 'migrate'],
  );
});

test('a pod of 200 containers stays within the cost limits, with all profiles that combine', async () => {
  const name = 'large';
  await installPolicy(cluster, policyOf(), name);
  const env = [{ name: 'A', value: 'b' }];
  const resources = { requests: { cpu: '1m', memory: '1Mi' }, limits: { cpu: '1m', memory: '1Mi' } };
  for (const [profile, proxy] of [
    ['aws-vpc-cni.istio.multus', 'istio-validation'],
    ['cilium.linkerd.multus', 'linkerd-proxy'],
  ] as const) {
    const labels = { 'cni-gate.io/profile': profile };
    await governed(cluster, `large-${proxy}`, name, { labels });
    const containers = Array.from({ length: 200 }, (_, at) => ({
      name: at === 0 ? proxy : `c${at}`,
      image: 'example/web',
      env,
      resources,
    }));
    const annotations = { 'k8s.v1.cni.cncf.io/networks': 'storage', 'sidecar.istio.io/status': '{}' };
    const { spec } = await tryPod<Pod>(
      cluster,
      `large-${proxy}`,
      podOf('web', { containers }, { annotations }),
    );
    const checks = spec.initContainers?.[0]?.env?.[0]?.value ?? '';
    for (const check of ['address', 'redirect', 'interfaces']) assert.match(checks, new RegExp(`"${check}"`));
  }
});

test('at each bound, the policy still reads the exempted ports; above it, the policy leaves the pod to the webhook', async () => {
  const policy = policyOf();
  await installPolicy(cluster, policy, 'bounds');
  const facts = { labels: { 'cni-gate.io/profile': 'linkerd' } };
  await governed(cluster, 'bounds', 'bounds', facts);
  const context = { policy, namespaces: new FixedNamespaces(new Map([['shop', facts.labels]])) };
  const containers = [{ name: 'linkerd-proxy', image: 'example/web' }];
  const bounds: [read: string, left: string][] = [
    [`${'1,'.repeat(499)}22`, `${'1,'.repeat(499)}223`],
    ['1-1403', '1-1404'],
    ['1405-1500', '1404-1500'],
    ['123456789', '1234567890'],
  ];
  for (const texts of bounds)
    for (const [at, ports] of texts.entries()) {
      const annotations = { 'config.linkerd.io/skip-outbound-ports': ports };
      const object = podOf('web', { containers }, { annotations }) as Pod;
      const result = await compare(cluster, 'bounds', object, context);
      assert.ok(typeof result !== 'string', String(result));
      assertEqualOrLeft(result, facts, policy);
      assert.equal(reasonOf(result.byPolicy), at === 0 ? undefined : 'skipped-ports');
    }
});
