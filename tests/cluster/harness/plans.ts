import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Access } from './access.ts';
import { Api } from './api.ts';
import type { ComponentPlan } from './component.ts';
import type { ClusterOptions, ComponentName } from './options.ts';
import { programPath } from './programs.ts';

const stages = fileURLToPath(new URL('./stages.yaml', import.meta.url));

/** Annotation of nodes that kwok keeps alive, and whose pods it runs. */
export const fakeNode = { key: 'kwok.x-k8s.io/node', value: 'fake' } as const;

/** Services' own addresses. Nothing answers there: without kube-proxy the API server goes to endpoints. */
const serviceRange = '10.96.0.0/16';
/** The `kubernetes` Service: first of the range. */
export const kubernetesService = '10.96.0.1';
/** What kwok gives to pods; enter.sh makes all of it the machine's own. */
const podRange = '10.253.0.0/16';
/** The address of all fake nodes. */
const nodeAddress = '10.254.0.1';

/** Everything that the components have to know of each other. */
export interface Layout {
  folder: string;
  ports: Record<Exclude<ComponentName, 'kwok'> | 'etcdPeers', number>;
  /** Files, PEM. */
  files: Record<
    'authority' | 'authorityKey' | 'server' | 'serverKey' | 'tokens' | 'tokensKey' | 'kubelet' | 'kubeletKey',
    string
  >;
  access: Record<'admin' | 'controllers' | 'scheduler', Access>;
  options: ClusterOptions;
}

/** How each component is started. */
export function planComponents(layout: Layout): Record<ComponentName, ComponentPlan> {
  const plans = {
    etcd: etcd(layout),
    'kube-apiserver': apiServer(layout),
    'kube-controller-manager': controllerManager(layout),
    'kube-scheduler': scheduler(layout),
    kwok: kwok(layout),
  };
  const { flags = {} } = layout.options;
  return Object.fromEntries(
    Object.entries(plans).map(([key, plan]) => {
      const name = key as ComponentName;
      const log = join(layout.folder, 'log', `${name}.log`);
      const args = [...plan.args, ...(flags[name] ?? [])];
      return [name, { name, path: programPath(name), args, log, ready: plan.ready }];
    }),
  ) as Record<ComponentName, ComponentPlan>;
}

type Start = Pick<ComponentPlan, 'args' | 'ready'>;

function etcd({ folder, ports }: Layout): Start {
  const clients = `http://127.0.0.1:${ports.etcd}`;
  const peers = `http://127.0.0.1:${ports.etcdPeers}`;
  return {
    args: [
      '--name=test',
      `--data-dir=${join(folder, 'etcd')}`,
      // what is written is only for this run
      '--unsafe-no-fsync',
      '--log-level=warn',
      ...[`--listen-client-urls=${clients}`, `--advertise-client-urls=${clients}`],
      ...[`--listen-peer-urls=${peers}`, `--initial-advertise-peer-urls=${peers}`],
      `--initial-cluster=test=${peers}`,
    ],
    ready: async () => (await fetch(`${clients}/health`)).ok,
  };
}

function apiServer(layout: Layout): Start {
  const { ports, files, access } = layout;
  const api = new Api(access.admin);
  return {
    args: [
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      `--secure-port=${ports['kube-apiserver']}`,
      // would put 127.0.0.1 into an EndpointSlice, which is not allowed
      '--endpoint-reconciler-type=none',
      `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
      `--service-cluster-ip-range=${serviceRange}`,
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      '--allow-privileged=true',
      '--profiling=false',
      // ends watches when it is stopped; without it they hold it up for a minute
      '--shutdown-watch-termination-grace-period=2s',
      // webhooks' Services: straight to the addresses in their EndpointSlices
      '--enable-aggregator-routing=true',
      `--client-ca-file=${files.authority}`,
      ...[`--tls-cert-file=${files.server}`, `--tls-private-key-file=${files.serverKey}`],
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${files.tokens}`,
      `--service-account-signing-key-file=${files.tokensKey}`,
      `--kubelet-certificate-authority=${files.authority}`,
      ...[`--kubelet-client-certificate=${files.kubelet}`, `--kubelet-client-key=${files.kubeletKey}`],
      ...auditFlags(layout),
    ],
    ready: async () => (await api.text('/readyz')) === 'ok',
  };
}

/** The file that audited requests are added to, one JSON object a line. */
export const auditLog = (folder: string): string => join(folder, 'audit.jsonl');

function auditFlags({ folder, options }: Layout): string[] {
  if (options.audit === undefined) return [];
  const policy = join(folder, 'audit-policy.json');
  const rules = [{ level: options.audit, omitStages: ['RequestReceived'] }];
  writeFileSync(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
  return [
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${auditLog(folder)}`,
    '--audit-log-mode=blocking-strict',
  ];
}

function controllerManager({ ports, files, access, options }: Layout): Start {
  const { nodeLifecycle = false } = options;
  const gracePeriod = typeof nodeLifecycle === 'number' ? nodeLifecycle : undefined;
  return {
    args: [
      '--bind-address=127.0.0.1',
      `--secure-port=${ports['kube-controller-manager']}`,
      '--leader-elect=false',
      ...asUser(access.controllers),
      `--controllers=${nodeLifecycle === false ? '*,-node-lifecycle-controller' : '*'}`,
      ...(gracePeriod === undefined
        ? []
        : [`--node-monitor-grace-period=${gracePeriod}s`, '--node-monitor-period=500ms']),
      '--use-service-account-credentials=true',
      `--service-account-private-key-file=${files.tokensKey}`,
      `--root-ca-file=${files.authority}`,
      ...[
        `--cluster-signing-cert-file=${files.authority}`,
        `--cluster-signing-key-file=${files.authorityKey}`,
      ],
    ],
    ready: () => healthy(ports['kube-controller-manager']),
  };
}

function scheduler({ ports, access }: Layout): Start {
  return {
    args: [
      '--bind-address=127.0.0.1',
      `--secure-port=${ports['kube-scheduler']}`,
      '--leader-elect=false',
      ...asUser(access.scheduler),
    ],
    ready: () => healthy(ports['kube-scheduler']),
  };
}

function kwok({ access, options }: Layout): Start {
  const { nodeLifecycle } = options;
  // a lease is renewed after a quarter of it
  const lease = typeof nodeLifecycle === 'number' ? nodeLifecycle : 40;
  return {
    args: [
      `--kubeconfig=${access.admin.kubeconfig}`,
      `--config=${stages}`,
      '--manage-all-nodes=false',
      `--manage-nodes-with-annotation-selector=${fakeNode.key}=${fakeNode.value}`,
      `--node-ip=${nodeAddress}`,
      `--cidr=${podRange}`,
      `--node-lease-duration-seconds=${lease}`,
    ],
    // it has nothing to be asked at; nodes wait for it
    ready: async () => true,
  };
}

function asUser({ kubeconfig }: Access): string[] {
  return ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'].map(
    (flag) => `--${flag}=${kubeconfig}`,
  );
}

/** Whether a component says that it is well. Its certificate is one that it made for itself. */
function healthy(port: number): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  request({ host: '127.0.0.1', port, path: '/healthz', rejectUnauthorized: false, agent: false })
    .on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    })
    .on('error', reject)
    .end();
  return promise;
}
