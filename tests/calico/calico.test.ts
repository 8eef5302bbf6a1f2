import assert from 'node:assert/strict';
import { globSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { builtInProfiles } from '../../webhook/config/builtin.ts';
import { pod } from '../cluster/harness/objects.ts';
import { startCluster } from '../cluster/harness/start.ts';
import { makeNamespace } from '../cluster/installed/working.ts';
import { cnitool } from '../netns/chain/chain.ts';
import { nodeAddress } from '../netns/harness/addresses.ts';
import { addNamespace, inside, pathOf } from '../netns/harness/namespaces.ts';
import { startProof } from '../netns/harness/proof.ts';
import { Sandbox } from '../netns/harness/sandbox.ts';
import { configurationOf } from '../support/configurations.ts';
import { run } from '../support/run.ts';

/*
 * Calico's own plugin, with its datastore in a real API server. The node is a network namespace. Felix does not run.
 */

const { CALICO_PROGRAMS: programs = '', CALICO_SOURCE: source = '' } = process.env;
assert.ok(programs && source, 'NOT RUN: run this file by `npm run suite calico`');
const tool = await cnitool();
const cluster = await startCluster({ flags: { 'kube-apiserver': ['--bind-address=0.0.0.0'] } });
const crds = globSync(join(source, 'libcalico-go/config/crd/crd.*.yaml')).flatMap((file) => ['-f', file]);
await cluster.kubectl(['apply', '--server-side', ...crds]);
await cluster.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
const calico = (kind: string, name: string, spec: object): object => ({
  apiVersion: 'crd.projectcalico.org/v1',
  kind,
  metadata: { name },
  spec,
});
const pool = { ipipMode: 'Never', vxlanMode: 'Never', nodeSelector: 'all()', allowedUses: ['Workload'] };
await cluster.apply(
  calico('ClusterInformation', 'default', { datastoreReady: true }),
  calico('IPPool', 'ipv4', { ...pool, cidr: '10.244.0.0/16', blockSize: 26 }),
  calico('IPPool', 'ipv6', { ...pool, cidr: 'fd00:10:244::/64', blockSize: 122 }),
  { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } },
);
await makeNamespace(cluster, 'shop');

const node = await addNamespace('calico');
const onNode = (script: string): Promise<string> => run(...inside(node, 'sh', '-euc', script));
await run('sh', [
  '-euc',
  `ip link add fabric type veth peer name uplink netns ${node} && ip link set fabric up
   ip addr add 10.254.3.1/24 dev fabric`,
]);
await onNode(`cd /proc/sys/net
  echo 0 | tee ipv6/conf/all/accept_dad > ipv6/conf/default/accept_dad
  echo 1 | tee ipv4/ip_forward > ipv6/conf/all/forwarding
  ip link set lo up; ip link set uplink up
  ip addr add ${nodeAddress.ipv4} dev lo; ip addr add ${nodeAddress.ipv6} dev lo
  ip addr add 10.254.3.2/24 dev uplink`);

const folder = mkdtempSync(join(tmpdir(), 'calico-'));
mkdirSync(join(folder, 'status'));
const kubeconfig = join(folder, 'kubeconfig');
const access = JSON.parse(readFileSync(cluster.admin.kubeconfig, 'utf8'));
Object.assign(access.clusters[0].cluster, {
  server: `https://10.254.3.1:${cluster.ports['kube-apiserver']}`,
  'tls-server-name': 'localhost',
});
writeFileSync(kubeconfig, JSON.stringify(access));

let made = 0;
/** Makes the plugin connect a pod. @param settings additional settings of the plugin */
async function connect(settings: object = {}) {
  const name = `web-${made++}`;
  await cluster.apply(pod(name, { nodeName: 'n1' }, { namespace: 'shop' }));
  const plugin = {
    type: 'calico',
    datastore_type: 'kubernetes',
    nodename: 'n1',
    nodename_file_optional: true,
    ipam: { type: 'calico-ipam', assign_ipv4: 'true', assign_ipv6: 'true' },
    policy: { type: 'k8s' },
    kubernetes: { kubeconfig },
    ...settings,
  };
  const network = { name: 'calico', cniVersion: '0.3.1', plugins: [plugin] };
  writeFileSync(join(folder, 'calico.conflist'), JSON.stringify(network));
  const sandbox = await Sandbox.make({ gateway: 'none' });
  // the tool writes its cache below /var/lib
  const add = ['sh', '-c', 'mount -t tmpfs none /var/lib && exec "$@"', 'sh', tool, 'add', 'calico'];
  const since = performance.now();
  const result = await run(...inside(node, 'unshare', '--mount', ...add, pathOf(sandbox.pod)), '', {
    PATH: process.env.PATH,
    CNI_PATH: programs,
    NETCONFPATH: folder,
    CNI_ARGS: `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${name}`,
  });
  const { ips, interfaces } = JSON.parse(result) as {
    ips: { address: string }[];
    interfaces: { name: string }[];
  };
  const podIPs = ips.map(({ address }) => address.replace(/\/\d+$/, ''));
  return { sandbox, podIPs, device: interfaces[0]?.name ?? '', seconds: (performance.now() - since) / 1000 };
}

/** Runs a proof, and returns its result. @param mode of `roundTrip` */
async function find(sandbox: Sandbox, podIPs: string[], mode: string): Promise<string> {
  const text = JSON.stringify(builtInProfiles().find(({ name }) => name === 'calico'))
    .replaceAll('10s', '3s')
    .replace('prefer', mode);
  const configuration = configurationOf({ profiles: [JSON.parse(text)] });
  const { message } = await startProof(sandbox, { profile: 'calico' }, { configuration, podIPs }).ended;
  const failed = message.checks.filter(({ passed }) => !passed);
  const noted = message.checks.filter(({ note }) => note !== undefined);
  if (failed.length === 0) return noted.length === 0 ? message.verdict : `${message.verdict} with a note`;
  return failed.map(({ reason, family }) => `${reason} ${family}`).join(', ');
}

const silent = 'gateway-silent IPv4, gateway-silent IPv6';
const lost = 'address-missing IPv4, address-missing IPv6';
const noRoute = ([ipv4, ipv6]: string[]): string => `ip route del ${ipv4}; ip -6 route del ${ipv6}`;

type State = [
  what: string,
  script: (device: string, podIPs: string[]) => string,
  found: string,
  mode?: string,
];
const states: State[] = [
  ['correct', () => 'true', 'passed'],
  ['no proxy ARP', (device) => `echo 0 > /proc/sys/net/ipv4/conf/${device}/proxy_arp`, 'gateway-silent IPv4'],
  ['no link-local address', (device) => `ip -6 addr flush dev ${device}`, 'gateway-silent IPv6'],
  ['a node without a default route', () => 'ip route del default', 'gateway-silent IPv4'],
  ["the node's end of the link is down", (device) => `ip link set ${device} down`, `${lost}, ${silent}`],
  [
    "the node's end of the link is elsewhere",
    (device) => `ip link set ${device} netns 1`,
    `${lost}, ${silent}`,
  ],
  ['no route to the pod', (_, podIPs) => noRoute(podIPs), 'passed with a note'],
  [
    'no route to the pod, with roundTrip required',
    (_, podIPs) => noRoute(podIPs),
    'node-silent IPv4, node-silent IPv6',
    'require',
  ],
];
for (const [what, script, found, mode = 'prefer'] of states) {
  test(`${what}: ${found}`, async () => {
    await onNode('ip route replace default via 10.254.3.1');
    const { sandbox, podIPs, device } = await connect();
    await using _ = sandbox;
    await onNode(script(device, podIPs));
    assert.equal(await find(sandbox, podIPs, mode), found);
  });
}

test('policySetupTimeoutSeconds: without Felix, the pod gets its network when the time is over', async () => {
  const { sandbox, seconds } = await connect({
    policy_setup_timeout_seconds: 4,
    endpoint_status_dir: join(folder, 'status'),
  });
  await using _ = sandbox;
  assert.ok(seconds >= 4 && seconds < 30, `${seconds} s`);
});
