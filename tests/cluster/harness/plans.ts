import { request } from 'node:https';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programPath } from '../binaries/ensure.ts';
import type { Access } from './access.ts';
import { apiServer } from './api-server.ts';
import type { ComponentPlan, Start } from './component.ts';
import type { Layout } from './layout.ts';
import type { ComponentName } from './options.ts';

const stages = fileURLToPath(new URL('./stages.yaml', import.meta.url));

/** kwok simulates the nodes that have this annotation, and their pods. */
export const fakeNode = { key: 'kwok.x-k8s.io/node', value: 'fake' } as const;

/** The range from which kwok takes addresses of pods. enter.sh assigns all of it to the loopback. */
const podRange = '10.253.0.0/16';
/** The address of all simulated nodes. */
const nodeAddress = '10.254.0.1';

export function planComponents(layout: Layout): Record<ComponentName, ComponentPlan> {
  const plans = {
    etcd: etcd(layout),
    'kube-apiserver': apiServer(layout),
    'kube-controller-manager': controllerManager(layout),
    'kube-scheduler': scheduler(layout),
    kwok: kwok(layout),
  };
  const { flags = {}, enclose = (_, command) => command } = layout.options;
  return Object.fromEntries(
    Object.entries(plans).map(([key, plan]) => {
      const name = key as ComponentName;
      const log = join(layout.folder, 'log', `${name}.log`);
      const args = [...plan.args, ...(flags[name] ?? [])];
      const [path, given] = enclose(name, [programPath(name), args]);
      return [name, { name, path, args: given, log, ready: plan.ready }];
    }),
  ) as Record<ComponentName, ComponentPlan>;
}

function etcd({ folder, ports }: Layout): Start {
  const clients = `http://127.0.0.1:${ports.etcd}`;
  const peers = `http://127.0.0.1:${ports.etcdPeers}`;
  return {
    args: [
      '--name=test',
      `--data-dir=${join(folder, 'etcd')}`,
      // the data is needed only during this run
      '--unsafe-no-fsync',
      '--log-level=warn',
      ...[`--listen-client-urls=${clients}`, `--advertise-client-urls=${clients}`],
      ...[`--listen-peer-urls=${peers}`, `--initial-advertise-peer-urls=${peers}`],
      `--initial-cluster=test=${peers}`,
    ],
    ready: async () => (await fetch(`${clients}/health`)).ok,
  };
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
  // kwok renews a lease after a quarter of its duration
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
    // kwok has no endpoint to poll here; tests wait for what kwok does
    ready: async () => true,
  };
}

function asUser({ kubeconfig }: Access): string[] {
  return ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'].map(
    (flag) => `--${flag}=${kubeconfig}`,
  );
}

/** Whether a component reports that it is healthy. Does not verify the certificate, which is self-signed. */
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
