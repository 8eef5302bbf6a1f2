import type { InstalledFacts, PreFacts } from '../../../webhook/check/facts.ts';
import { neededApis } from '../../../webhook/check/kubernetes.ts';
import { installRights, serverRights } from '../../../webhook/check/rights.ts';
import { toDaemonSetFacts } from '../../../webhook/readiness/to-facts.ts';
import { policyOf } from '../../support/configurations.ts';
import { apiDaemonSet, now } from '../readiness/objects.ts';
import { allRegistered, wholeInstallation } from '../status/objects.ts';

/** With the repair of the overlay `strict`. */
const strictPolicy = policyOf({ repair: { mode: 'recreate' } });

export const found = <T>(value: T): { found: T } => ({ found: value });

/** Something that may not be read, and the right that is missing. */
export const forbidden = (what: string, resource: string) => ({
  unknown: {
    why: `${what} may not be read`,
    forbidden: true,
    right: `verb "list" on resource "${resource}" of API group ""`,
  },
});

export const policy = policyOf({});

/** What is known of a cluster in which everything is as it should be. */
const cluster: Pick<InstalledFacts, 'cluster' | 'version' | 'apis' | 'nodes' | 'heartbeats' | 'clockSkew'> = {
  cluster: {
    context: 'production',
    server: 'https://10.0.0.1:6443',
    clientVersion: '0.1.0',
    serverVersion: '0.1.0',
  },
  version: found({
    major: 1,
    minor: 36,
    text: 'v1.36.3',
    usesNominations: true,
    nominationsFrom: '1.35',
  }),
  apis: new Map(Object.entries(neededApis).map(([version, names]) => [version, found(names)])),
  nodes: found([
    { name: 'n1', ready: true, os: 'linux', architecture: 'amd64' },
    { name: 'n2', ready: true, os: 'linux', architecture: 'arm64' },
  ]),
  heartbeats: found([
    { node: 'n1', renewed: now - 5000 },
    { node: 'n2', renewed: now - 9000 },
  ]),
  clockSkew: 0,
};

const allowed = (rights: ReturnType<typeof installRights>) =>
  rights.map((right) => ({ right, allowed: true }));

/** An installation in which everything is as it should be at {@link now}. */
export const installed = (more: Partial<InstalledFacts> = {}): InstalledFacts => ({
  ...cluster,
  configuration: { policy, source: 'config.yaml of ConfigMap cni-gate/cni-gate' },
  registered: allRegistered,
  installation: wholeInstallation,
  serverRights: found(
    allowed(serverRights({ namespace: 'cni-gate', policy: strictPolicy, secret: 'cni-gate-tls' })),
  ),
  account: 'cni-gate/cni-gate',
  namespaces: found([{ name: 'shop', profile: 'cilium' }]),
  daemonSets: found([{ ...toDaemonSetFacts(apiDaemonSet('cilium')), namespace: 'kube-system' }]),
  probe: {
    namespace: 'shop',
    outcome: 'injected',
    what: 'the pod comes back with cni-gate-validator (address, gateway)',
  },
  ...more,
});

/** A cluster that cni-gate can be installed in, with Cilium and linkerd. */
export const bare = (more: Partial<PreFacts> = {}): PreFacts => ({
  ...cluster,
  cluster: { ...cluster.cluster, serverVersion: null },
  policy,
  source: 'the built-in profiles',
  present: false,
  priorityClass: found(true as const),
  rights: allowed(installRights()),
  apiServers: found([['kube-apiserver', '--disable-admission-plugins=DefaultStorageClass']]),
  servedApis: found([
    { name: 'v1beta1.metrics.k8s.io', service: 'kube-system/metrics-server', available: true, message: '' },
  ]),
  daemonSets: found([
    { namespace: 'kube-system', name: 'cilium' },
    { namespace: 'linkerd-cni', name: 'linkerd-cni' },
  ]),
  webhooks: found(['linkerd-proxy-injector.linkerd.io']),
  namespaces: found([
    { name: 'kube-system', profile: undefined, fits: ['cilium'] },
    { name: 'bank', profile: undefined, fits: ['cilium', 'linkerd', 'multus'] },
    { name: 'shop', profile: undefined, fits: ['cilium', 'linkerd', 'multus'] },
    { name: 'tools', profile: undefined, fits: ['cilium', 'multus'] },
    { name: 'done', profile: 'cilium', fits: ['cilium'] },
  ]),
  podsUnread: undefined,
  ...more,
});
