import type { V1Deployment } from '@kubernetes/client-node';
import { createAuthority } from '../../../certs/issue.ts';
import { toDaemonSetFacts } from '../../../webhook/core/facts/node.ts';
import type { PodEvidence } from '../../../webhook/core/facts/pod-evidence.ts';
import { policyObjects } from '../../../webhook/core/policies/policy.ts';
import { installedPolicies } from '../../../webhook/lib/names.ts';
import { type CheckId, type Row, rowsOf, type Scope } from '../../../webhook/report/judge/catalogue.ts';
import { expectedPolicies } from '../../../webhook/report/judge/policies.ts';
import type { Result } from '../../../webhook/report/judge/row.ts';
import { expectedWebhooks } from '../../../webhook/report/judge/webhooks.ts';
import type { InstallationFacts, Webhook } from '../../../webhook/report/observe/installation.ts';
import type { Facts } from '../../../webhook/report/observe/observe.ts';
import type { PodFacts } from '../../../webhook/report/observe/pods.ts';
import { policyOf } from '../../support/configurations.ts';
import { clusterWith } from '../admission/gate/support.ts';
import { apiDaemonSet, now } from '../core/networks/objects.ts';
import { evidencePod } from '../core/networks/pods.ts';

export const found = <T>(value: T): { found: T } => ({ found: value });

/** The observation of an object that does not exist. */
export const absent = {};

/** The observation of an object that RBAC does not allow to read. */
export const forbidden = (what: string) => ({ unknown: `${what} may not be read: RBAC lacks verb "list"` });

export const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The authority of the managed certificates, which is valid at {@link now}. */
export const authority = createAuthority({ days: 90, now: new Date(now - 86_400_000) });

/** The webhooks of the manifests, with the authority's certificate as caBundle. */
const called = (webhooks: readonly Webhook[]): Webhook[] =>
  webhooks.map((one) => ({
    ...one,
    clientConfig: { ...one.clientConfig, caBundle: base64(authority.certificate) },
  }));

/** A policy of the manifests and its binding. */
const bound = (kind: keyof typeof expectedPolicies): InstallationFacts['policies']['pods'] => ({
  policy: found({ spec: expectedPolicies[kind] }),
  binding: found({
    spec: { policyName: installedPolicies[kind === 'pods' ? 0 : 1], validationActions: ['Deny'] },
  }),
});

/** The mutating policy of a configuration, and its binding, as the API server returns them. */
export function mutatingPair(policy = policyOf()): InstallationFacts['policies']['mutating'] {
  const [rules, binding] = JSON.parse(JSON.stringify(policyObjects(policy)));
  return { policy: found(rules), binding: found(binding) };
}

/** A Deployment of this many replicas, of which `readyReplicas` are ready. */
export const deployment = (replicas = 2, readyReplicas = 2): V1Deployment => ({
  status: { readyReplicas },
  spec: {
    replicas,
    selector: {},
    template: {
      spec: {
        containers: [{ name: 'cni-gate', image: 'cni-gate:0.1.0', args: ['--tls-secret=cni-gate-tls'] }],
      },
    },
  },
});

/** An EndpointSlice with `all` endpoints, of which `ready` are ready. */
export const slice = (ready: number, all = 2, ports: object[] = [{ name: 'https', port: 8443 }]) => ({
  ports,
  endpoints: Array.from({ length: all }, (_, at) => ({ addresses: [], conditions: { ready: at < ready } })),
});

/** A Lease whose holder, by default x_1, renewed it this many milliseconds ago. */
export const lease = (ago: number, holderIdentity = 'x_1') => {
  const renewTime = new Date(now - ago).toISOString();
  return found({ metadata: {}, spec: { holderIdentity, renewTime, leaseDurationSeconds: 15 } });
};

/** An installation that passes every check at {@link now}. */
export const wholeInstallation: InstallationFacts = {
  namespace: 'cni-gate',
  mutating: found(called(expectedWebhooks.mutating)),
  validating: found(called(expectedWebhooks.validating)),
  policies: {
    pods: bound('pods'),
    serviceAccount: bound('serviceAccount'),
    mutating: { policy: absent, binding: absent },
  },
  deployment: found(deployment()),
  service: found({ spec: { ports: [{ name: 'https', port: 443, targetPort: 'https' }] } }),
  slices: found([slice(2)]),
  secret: found({ data: { 'tls.crt': base64(authority.certificate) } }),
  lease: lease(1000),
};

/** A cluster without any object of cni-gate. */
export const nothingInstalled: InstallationFacts = {
  ...wholeInstallation,
  mutating: absent,
  validating: absent,
  deployment: absent,
  service: absent,
  secret: absent,
  policies: {
    pods: { policy: absent, binding: absent },
    serviceAccount: { policy: absent, binding: absent },
    mutating: { policy: absent, binding: absent },
  },
  lease: absent,
};

/** The version of an API server of Kubernetes 1.`minor`. */
export const kubernetes = (minor: number, patch = 4) =>
  found({ major: '1', minor: `${minor}`, gitVersion: `v1.${minor}.${patch}` });

/** A configuration as a command reads it from a cluster. */
export const configured = (settings: object): Facts['configuration'] => ({
  policy: policyOf(settings),
  source: 'config.yaml of ConfigMap cni-gate/cni-gate',
});

/** A DaemonSet as a command reads it from a cluster. */
export const daemonSet = (namespace: string, name: string) => ({
  facts: { ...toDaemonSetFacts(apiDaemonSet(name)), namespace },
  selector: '',
});

/** Two profiles with a DaemonSet each, but the DaemonSet of `lost` does not exist. */
export const profiles = [
  {
    name: 'mesh',
    daemonSets: [{ namespace: 'net', name: 'agent' }],
    proof: { checks: [{ address: {} }] },
  },
  { name: 'lost', daemonSets: [{ namespace: 'net', name: 'gone' }] },
];

/** The facts that a command reads from a cluster that passes every check. @param more replaces facts */
export const factsOf = ({
  installation,
  ...more
}: Partial<Omit<Facts, 'installation'>> & { installation?: Partial<InstallationFacts> } = {}): Facts => ({
  now,
  cluster: {
    context: 'production',
    server: 'https://10.0.0.1:6443',
    clientVersion: '0.1.0',
    serverVersion: '0.1.0',
  },
  version: kubernetes(35),
  configuration: configured({ profiles }),
  installation: { ...wholeInstallation, ...installation },
  namespace: undefined,
  namespaces: found([{ name: 'shop', profile: 'mesh' }]),
  daemonSets: found([daemonSet('net', 'agent')]),
  readiness: found(clusterWith({ n1: {}, n2: {} })),
  pods: found([podOf('web-0', 'passed')]),
  probe: undefined,
  ...more,
});

type More = Parameters<typeof factsOf>[0];

/** The rows of a check. */
export const rowsIn = (id: CheckId, more: More = {}, scope: Scope = 'status'): Row[] =>
  rowsOf(factsOf(more), scope).filter(({ check }) => check === id);

/** The checks with a row of this result. */
export const having = (result: Result, more: More = {}, scope: Scope = 'status'): CheckId[] => [
  ...new Set(rowsOf(factsOf(more), scope).flatMap((row) => (row.result === result ? row.check : []))),
];

/** A pod on node n1 of namespace shop. */
export const podOf = (name: string, proof: PodFacts['proof'], more: Partial<PodFacts> = {}): PodFacts => ({
  namespace: 'shop',
  name,
  node: 'n1',
  proof,
  ...more,
});

/** A pod with evidence. */
export const provedPod = (
  name: string,
  proof: PodFacts['proof'],
  evidence: Partial<PodEvidence>,
  more: Partial<PodFacts> = {},
): PodFacts => podOf(name, proof, { evidence: evidenceOf(name, evidence), ...more });

/** The text of a status annotation. */
export const annotationOf = (names: string[], checks: string[], more: object = {}): string =>
  JSON.stringify({
    version: '0.1.0',
    profile: 'mesh',
    chosenBy: 'namespace',
    profiles: names,
    checks,
    ...more,
  });

/** The evidence of a pod that passed on node n1. */
export const evidenceOf = (name: string, more: Partial<PodEvidence> = {}): PodEvidence =>
  evidencePod(name, {
    node: 'n1',
    profiles: ['mesh'],
    createdAt: now - 3_600_000,
    at: now - 3_500_000,
    startedAt: now - 3_501_000,
    waitingFor: 'a sandbox',
    ...more,
  });
