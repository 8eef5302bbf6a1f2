import fc, { type Arbitrary } from 'fast-check';
import type { MutateContext } from '../../../webhook/admission/mutate.ts';
import { FixedNamespaces } from '../../../webhook/core/facts/namespace.ts';
import type { Policy } from '../../../webhook/core/profiles/policy.ts';
import { foreign, profileLabel } from '../../../webhook/lib/names.ts';
import { builtInNames, policyOf } from '../configurations.ts';

/** Additional profiles with settings that no built-in profile has. */
const profiles = [
  { name: 'storage', annotations: { [foreign.networks]: 'net/storage, net/backup@net1' } },
  {
    name: 'addressed',
    when: { annotations: { [foreign.networks]: { exists: true } } },
    annotations: { [foreign.networks]: '[{"name":"lan","namespace":"shop","ips":["10.1.0.9/24"]}]' },
    proof: { checks: [{ interfaces: { timeout: '3s' } }] },
  },
  { name: 'shaped', annotations: { 'kubernetes.io/egress-bandwidth': '10M', 'example.org/a': 'b' } },
  {
    name: 'homemade',
    proof: { checks: [{ redirect: { listen: 15_999, connect: ['192.0.2.9:9'], notAsUser: 65_534 } }] },
  },
  {
    name: 'alone',
    when: { container: 'linkerd-proxy' },
    proof: {
      checks: [{ redirect: { listen: 14_140, connect: ['192.0.2.9:9'], notAsUser: 2102 } }],
      replaces: ['linkerd-network-validator'],
    },
  },
  { name: 'database', proof: { checks: [{ reach: { host: 'db.shop.svc', port: 5432 } }] } },
];

/** Policies with different settings of `proof`. As in a server, all calls share them. */
export const policies = [
  {},
  { imagePullSecrets: ['mirror', 'spare'], image: 'mirror.local/cni-gate:1', imagePullPolicy: 'Always' },
  { mode: 'warn', allowOptOut: false },
].map((proof) => policyOf({ proof, profiles }));

const combined = fc
  .shuffledSubarray([...builtInNames, ...profiles.map((profile) => profile.name)], {
    minLength: 1,
    maxLength: 4,
  })
  .map((names) => names.join('.'));

/** Random contexts for `mutate()`: a policy, and the namespace `shop` with a combination of profiles. */
export const contexts: Arbitrary<MutateContext> = fc
  .record({
    policy: fc.constantFrom(...policies),
    combined: fc.oneof(
      { weight: 9, arbitrary: combined },
      fc.constantFrom('none', '', 'nope', 'cilium.cilium'),
    ),
    ambient: fc.boolean(),
  })
  .map(({ policy, combined: profile, ambient }) => contextIn(policy, profile, ambient));

/** The namespace `shop` with `profile` as the value of its profile label. */
export function contextIn(policy: Policy, profile: string, ambient: boolean): MutateContext {
  const labels = { [profileLabel]: profile, ...(ambient && { 'istio.io/dataplane-mode': 'ambient' }) };
  return {
    policy,
    namespaces: new FixedNamespaces(new Map([['shop', labels]])),
    // without this method, fast-check prints the whole policy in a counterexample
    [fc.toStringMethod]: () => JSON.stringify({ proof: policy.proof, labels }),
  } as MutateContext;
}
