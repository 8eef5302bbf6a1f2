import type { V1Deployment } from '@kubernetes/client-node';
import { toDaemonSetFacts } from '../../../webhook/core/facts/node.ts';
import type { PodEvidence } from '../../../webhook/core/facts/pod-evidence.ts';
import { policyObjects } from '../../../webhook/core/policies/policy.ts';
import { installedPolicies, installedWebhooks } from '../../../webhook/lib/names.ts';
import { type CheckId, checksOf } from '../../../webhook/report/judge/catalogue.ts';
import type { CheckResult } from '../../../webhook/report/judge/check-result.ts';
import { expectedPolicies } from '../../../webhook/report/judge/policies.ts';
import { expectedWebhooks } from '../../../webhook/report/judge/registration.ts';
import type { InstallationFacts, Registered, Webhook } from '../../../webhook/report/observe/installation.ts';
import type { CheckFacts, Facts, PreFacts, StatusFacts } from '../../../webhook/report/observe/observe.ts';
import type { Hold, PodFacts } from '../../../webhook/report/observe/pods.ts';
import { policyOf } from '../../support/configurations.ts';
import { clusterWith } from '../admission/gate/support.ts';
import { apiDaemonSet, now } from '../core/networks/objects.ts';
import { evidencePod } from '../core/networks/pods.ts';

export const found = <T>(value: T): { found: T } => ({ found: value });

/** The observation of an object that does not exist. */
export const absent = {};

/** The observation of an object that may not be read, with the right that is missing. */
export const forbidden = (what: string, resource = 'things') => ({
  unknown: {
    why: `${what} may not be read`,
    right: `verb "list" on resource "${resource}" of API group ""`,
  },
});

/** Webhooks as in the manifests, with a caBundle, so that the API server can call them. */
const called = (names: readonly string[]): Webhook[] =>
  expectedWebhooks
    .filter(({ name }) => names.includes(name))
    .map((one) => ({ ...one, clientConfig: { ...one.clientConfig, caBundle: 'eA==' } }));

/** Everything that an installation registers. */
export const allRegistered: Registered = {
  mutating: called(installedWebhooks.mutating),
  validating: called(installedWebhooks.validating),
};

/** A policy with its binding, as in the manifests. */
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

/** A Deployment of 2 replicas, of which `readyReplicas` are ready. */
export const deployment = (
  readyReplicas = 2,
  { replicas = 2, ...status }: { replicas?: number } & V1Deployment['status'] = {},
): V1Deployment => ({
  metadata: { generation: 1 },
  spec: {
    replicas,
    selector: {},
    template: {
      spec: {
        serviceAccountName: 'cni-gate',
        containers: [{ name: 'cni-gate', image: 'cni-gate:0.1.0', args: ['serve', '--port=8443'] }],
      },
    },
  },
  status: { observedGeneration: 1, readyReplicas, updatedReplicas: 2, ...status },
});

/** An EndpointSlice with `all` endpoints, of which `ready` are ready. */
export const slice = (ready: number, all = 2, ports: object[] = [{ name: 'https', port: 8443 }]) => ({
  ports,
  endpoints: Array.from({ length: all }, (_, at) => ({ addresses: [], conditions: { ready: at < ready } })),
});

/** An installation in which everything is in order at {@link now}. */
export const wholeInstallation: InstallationFacts = {
  namespace: 'cni-gate',
  url: undefined,
  elsewhere: [],
  service: found({ spec: { ports: [{ name: 'https', port: 443, targetPort: 'https' }] } }),
  slices: found([slice(2)]),
  deployment: found(deployment()),
  certificate: found({ secret: 'cni-gate/cni-gate-tls', webhooks: [] }),
  policies: {
    pods: bound('pods'),
    serviceAccount: bound('serviceAccount'),
    // the cluster is too old for mutating policies: see `version`
    mutating: { policy: absent, binding: absent },
  },
  lease: found({ holder: 'cni-gate-5d9f_1', renewed: now - 1000, duration: 15_000 }),
  failurePolicy: 'Fail',
};

/** A cluster without any object of cni-gate. */
export const nothingInstalled: Pick<Facts, 'registered' | 'installation'> = {
  registered: { mutating: [], validating: [] },
  installation: {
    ...wholeInstallation,
    deployment: absent,
    service: absent,
    policies: {
      pods: { policy: absent, binding: absent },
      serviceAccount: { policy: absent, binding: absent },
      mutating: { policy: absent, binding: absent },
    },
    lease: absent,
  },
};

const cluster = {
  context: 'production',
  server: 'https://10.0.0.1:6443',
  clientVersion: '0.1.0',
  serverVersion: '0.1.0',
};

/** The version of an API server of Kubernetes 1.`minor`. */
export const kubernetes = (minor: number, patch = 4) =>
  found({ major: '1', minor: `${minor}`, gitVersion: `v1.${minor}.${patch}` });

export const policy = policyOf({});

/** A configuration as a command finds it in a cluster. */
export const configured = (settings: object): Facts['configuration'] => ({
  policy: policyOf(settings),
  source: 'config.yaml of ConfigMap cni-gate/cni-gate',
});

/** What `check` reads of an installation in which everything is in order at {@link now}. */
export const checkFacts = (more: Partial<CheckFacts> = {}): CheckFacts => ({
  version: kubernetes(35),
  cluster,
  configuration: configured({}),
  registered: allRegistered,
  installation: wholeInstallation,
  serverRights: found({ asked: 40, missing: [] }),
  namespaces: found([{ name: 'shop', profile: 'cilium' }]),
  daemonSets: found([daemonSet('kube-system', 'cilium')]),
  pods: found([]),
  limits: found([]),
  probe: {
    namespace: 'shop',
    outcome: 'injected',
    what: 'the pod comes back with cni-gate-validator (address, gateway, roundTrip)',
  },
  ...more,
});

/** A cluster in which cni-gate can be installed, with Cilium and linkerd. */
export const preFacts = (more: Partial<PreFacts> = {}): PreFacts => ({
  version: kubernetes(35),
  ...nothingInstalled,
  cluster: { ...cluster, serverVersion: null },
  configuration: { policy, source: 'the built-in profiles' },
  rights: { asked: 30, missing: [] },
  daemonSets: found([daemonSet('kube-system', 'cilium'), daemonSet('linkerd-cni', 'linkerd-cni')]),
  namespaces: found([]),
  ...more,
});

/** The facts of a DaemonSet. */
export const daemonSet = (namespace: string, name: string) => ({
  ...toDaemonSetFacts(apiDaemonSet(name)),
  namespace,
});

/** Two profiles with a DaemonSet each, but the DaemonSet of `lost` does not exist. */
export const profiles = [
  { name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }] },
  { name: 'lost', daemonSets: [{ namespace: 'net', name: 'gone' }] },
];

/** Some of the facts of a status, with the pods as a plain list and not as an observation. */
export type MoreStatusFacts = Partial<Omit<StatusFacts, 'pods'>> & { pods?: PodFacts[] };

/** What `status` reads of a cluster in which everything is in order. */
export const statusFacts = ({
  pods = [{ namespace: 'shop', name: 'web-0', node: 'n1', proof: 'passed' }],
  ...more
}: MoreStatusFacts = {}): StatusFacts => ({
  cluster,
  version: kubernetes(35),
  configuration: configured({ profiles }),
  registered: allRegistered,
  installation: wholeInstallation,
  namespaces: found([{ name: 'shop', profile: 'mesh' }]),
  daemonSets: found([daemonSet('net', 'agent')]),
  namespace: undefined,
  readiness: clusterWith({ n1: {}, n2: {} }),
  pods: found(pods),
  events: new Map(),
  probe: undefined,
  ...more,
});

/** The results of checks, by the ids of the checks. */
export type Findings = Partial<Record<CheckId, CheckResult>>;

/** The results of all checks of these facts. */
export const findingsOf = (facts: Facts, at = now): Findings =>
  Object.fromEntries(checksOf(facts, at).map((row) => [row.id, row]));

/** The facts about a pod that is held. */
export const holdOf = (name: string, hold: Omit<Hold, 'uid'>): Hold => ({ ...hold, uid: `${name}-uid` });

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
