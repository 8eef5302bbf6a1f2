import assert from 'node:assert/strict';
import { mutate } from '../../../webhook/admission/mutate.ts';
import { parseConfiguration } from '../../../webhook/config/load.ts';
import type { Container, Pod } from '../../../webhook/core/facts/pod.ts';
import { Policy } from '../../../webhook/core/profiles/policy.ts';
import type { ProofMode } from '../../../webhook/core/profiles/types.ts';
import { profileLabel, validatorContainer } from '../../../webhook/lib/names.ts';
import { reviewOf } from '../../support/reviews.ts';

/** A pod after the networks' own injectors and before cni-gate's webhook. */
export interface PodSpecimen {
  /** The profile in the label of the pod's namespace. */
  profile: string;
  namespaceLabels?: Record<string, string>;
  namespaceAnnotations?: Record<string, string>;
  annotations?: Record<string, string>;
  before?: string[];
  sidecars?: string[];
  env?: Record<string, string>;
  /** The user and the group of `before` containers and of sidecars. */
  runAs?: { runAsUser?: number; runAsGroup?: number };
  runAsUser?: number;
  runAsGroup?: number;
  limits?: Record<string, string>;
}

export const podNamespace = 'shop';

export function podOf(specimen: PodSpecimen): Pod {
  const container = (name: string): Container => ({ name, image: `registry.example/${name}:1` });
  const env = Object.entries(specimen.env ?? {}).map(([name, value]) => ({ name, value }));
  const securityContext = specimen.runAs && { securityContext: specimen.runAs };
  const sidecar = (name: string): Container => ({ ...container(name), env, ...securityContext });
  const { runAsUser, runAsGroup, limits } = specimen;
  const application = { ...container('web'), ...(limits && { resources: { limits } }) };
  return {
    metadata: { name: 'web-0', namespace: podNamespace, annotations: { ...specimen.annotations } },
    spec: {
      ...(specimen.before && {
        initContainers: specimen.before.map((name) => ({ ...container(name), ...securityContext })),
      }),
      containers: [application, ...(specimen.sidecars ?? []).map(sidecar)],
      ...((runAsUser ?? runAsGroup) !== undefined && {
        securityContext: {
          ...(runAsUser !== undefined && { runAsUser }),
          ...(runAsGroup !== undefined && { runAsGroup }),
        },
      }),
    },
  };
}

/** For each profile that `proof-table.test.ts` tests, a pod to which the profile applies. */
export const specimens = {
  linkerd: { profile: 'linkerd', sidecars: ['linkerd-proxy'] },
  istio: {
    profile: 'istio',
    before: ['istio-validation'],
    sidecars: ['istio-proxy'],
    annotations: { 'sidecar.istio.io/status': '{"containers":["istio-proxy"]}' },
    runAs: { runAsUser: 1337, runAsGroup: 1337 },
  },
  'istio-ambient': { profile: 'istio-ambient', namespaceLabels: { 'istio.io/dataplane-mode': 'ambient' } },
  cilium: { profile: 'cilium' },
  'aws-vpc-cni': { profile: 'aws-vpc-cni' },
  multus: { profile: 'multus', annotations: { 'k8s.v1.cni.cncf.io/networks': 'storage@net1' } },
} as const satisfies Record<string, PodSpecimen>;

export type NetworkName = keyof typeof specimens;

/**
 * The pod after the webhook, with the injected container.
 *
 * @param configuration by default, a configuration with only the built-in profiles
 */
export function injected(
  specimen: PodSpecimen,
  mode: ProofMode = 'enforce',
  configuration = parseConfiguration(),
): { pod: Pod; container: Container } {
  const pod = podOf(specimen);
  configuration.proof.mode = mode;
  const namespace = {
    labels: { ...specimen.namespaceLabels, [profileLabel]: specimen.profile },
    annotations: { ...specimen.namespaceAnnotations },
  };
  const { decision } = mutate(reviewOf(pod, { namespace: podNamespace }), {
    policy: new Policy(configuration),
    namespaces: { facts: () => namespace },
  });
  const container = pod.spec.initContainers?.[0];
  assert.equal(
    container?.name,
    validatorContainer,
    `the webhook injected nothing into the pod: ${decision.reason}`,
  );
  return { pod, container };
}
