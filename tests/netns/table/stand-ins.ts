import { run } from '../../support/run.ts';
import { type Family, gatewayAddress, podAddress, withPrefix } from '../harness/addresses.ts';
import { addNamespace, removeNamespace } from '../harness/namespaces.ts';
import { Sandbox } from '../harness/sandbox.ts';

/* Networks whose own plugin is not at hand, set up on the node as the plugin does. */

const setting = async (sandbox: Sandbox, path: string, value: number): Promise<void> =>
  void (await sandbox.exec('node', 'sh', ['-c', `echo ${value} > /proc/sys/net/${path}`]));

async function link(sandbox: Sandbox, name: string, mac: string): Promise<void> {
  await sandbox.ip(
    'node',
    `link add name ${name} address ${mac} type veth peer name eth0 netns ${sandbox.pod}`,
    `link set ${name} up`,
  );
  await sandbox.ip('pod', 'link set eth0 up');
}

/** Gives the pod addresses in the node's subnet, and a default route to the gateway in the subnet. */
const giveSubnet = (sandbox: Sandbox): Promise<string> =>
  sandbox.ip(
    'pod',
    ...sandbox.familyList.flatMap((family) => [
      `addr add ${withPrefix(family, podAddress[family], 'subnet')} dev eth0${nodad(family)}`,
      `route add default via ${gatewayAddress[family]} dev eth0`,
    ]),
  );
const nodad = (family: Family): string => (family === 'ipv6' ? ' nodad' : '');
const gateways = (sandbox: Sandbox, device: string): string[] =>
  sandbox.familyList.map(
    (family) =>
      `addr add ${withPrefix(family, gatewayAddress[family], 'subnet')} dev ${device}${nodad(family)}`,
  );

/** Gives the node a default route, because proxy ARP answers only for addresses to which the node has a route. */
const connectNode = (sandbox: Sandbox): Promise<string> =>
  sandbox.ip(
    'node',
    'link add uplink type veth peer name fabric',
    'link set fabric up',
    'link set uplink up',
    'addr add 192.168.50.2/24 dev uplink',
    'route replace default via 192.168.50.1 dev uplink',
  );

/**
 * Calico's network as its plugin sets it up (projectcalico/calico, cni-plugin/pkg/dataplane/linux): a host route to the
 * pod, and proxy ARP for a gateway that no interface has. The IPv6 gateway is the node end's link-local address.
 */
export async function calico(): Promise<Sandbox> {
  const sandbox = await Sandbox.make({ gateway: 'none' });
  await connectNode(sandbox);
  await link(sandbox, 'cali0', 'ee:ee:ee:ee:ee:ee');
  for (const [path, value] of [
    ['ipv4/neigh/cali0/proxy_delay', 0],
    ['ipv4/conf/cali0/proxy_arp', 1],
    ['ipv4/conf/cali0/forwarding', 1],
    ['ipv6/conf/cali0/proxy_ndp', 1],
    ['ipv6/conf/cali0/forwarding', 1],
  ] as const) {
    await setting(sandbox, path, value);
  }
  await sandbox.ip(
    'node',
    `route add ${podAddress.ipv4} dev cali0 scope link`,
    `route add ${podAddress.ipv6} dev cali0`,
  );
  await sandbox.ip(
    'pod',
    'route add 169.254.1.1 dev eth0 scope link',
    'route add default via 169.254.1.1 dev eth0',
    'route add default via fe80::ecee:eeff:feee:eeee dev eth0',
    `addr add ${withPrefix('ipv4', podAddress.ipv4, 'host')} dev eth0`,
    `addr add ${withPrefix('ipv6', podAddress.ipv6, 'host')} dev eth0 nodad`,
  );
  return sandbox;
}

/** Flannel's network as the bridge plugin sets it up (`isDefaultGateway`): bridge cni0 has the gateway's address. */
export async function flannel(): Promise<Sandbox> {
  const sandbox = await Sandbox.make({ gateway: 'none' });
  await sandbox.ip('node', 'link add cni0 type bridge', 'link set cni0 up', ...gateways(sandbox, 'cni0'));
  await link(sandbox, 'veth0', '02:00:00:00:00:01');
  await sandbox.ip(
    'node',
    'link set veth0 master cni0',
    // stands for flanneld's route to the pods of another node
    'link add flannel.1 type veth peer name fabric',
    'link set fabric up',
    'link set flannel.1 up',
    'route add 10.244.2.0/24 dev flannel.1',
  );
  await giveSubnet(sandbox);
  return sandbox;
}

/**
 * A stand-in for OVN-Kubernetes: a bridge in place of br-int, and a network namespace in place of the logical router,
 * whose port answers for the gateway. ovn-controller connects pods with flows; here the pod's port is in the bridge.
 */
export async function ovnKubernetes(): Promise<Sandbox> {
  const sandbox = await Sandbox.make({ gateway: 'none' });
  const router = await addNamespace('router');
  sandbox.onRemoval(() => removeNamespace(router));
  await sandbox.ip(
    'node',
    'link add br-int type bridge',
    'link set br-int up',
    `link add name stor type veth peer name rtos address 0a:58:0a:f4:01:01 netns ${router}`,
    'link set stor master br-int',
    'link set stor up',
  );
  const lines = ['link set rtos up', ...gateways(sandbox, 'rtos')];
  await run('ip', ['-netns', router, '-batch', '-'], `${lines.join('\n')}\n`);
  await link(sandbox, 'ovnport', '02:00:00:00:00:01');
  await sandbox.ip('node', 'link set ovnport master br-int');
  await giveSubnet(sandbox);
  return sandbox;
}

/**
 * Azure CNI's network in transparent mode (Azure/azure-container-networking,
 * network/transparent_endpointclient_linux.go): as with the AWS VPC CNI, the pod has a permanent neighbour entry for a
 * gateway that no interface has. In addition, the node's end of the link answers for it (proxy ARP).
 */
export async function azure(): Promise<Sandbox> {
  const sandbox = await Sandbox.make({ gateway: 'stand-in' });
  await connectNode(sandbox);
  for (const name of ['forwarding', 'proxy_arp']) await setting(sandbox, `ipv4/conf/pod0/${name}`, 1);
  return sandbox;
}

/**
 * A stand-in for Antrea (antrea-io/antrea, docs/design/ovs-pipeline.md): a Linux bridge in place of the Open vSwitch
 * bridge br-int, whose port antrea-gw0 is an interface of the node and has the gateway's address. The agent writes flows
 * for each pod's port.
 */
export async function antrea(): Promise<Sandbox> {
  const sandbox = await Sandbox.make({ gateway: 'none' });
  await sandbox.ip(
    'node',
    // without ARP, because a Linux bridge itself would answer for the node's addresses
    'link add br-int type bridge',
    'link set br-int up arp off',
    'link add antrea-gw0 type veth peer name gw0port',
    'link set gw0port master br-int',
    'link set gw0port up',
    'link set antrea-gw0 up',
    ...gateways(sandbox, 'antrea-gw0'),
  );
  await link(sandbox, 'podport', '02:00:00:00:00:01');
  await sandbox.ip('node', 'link set podport master br-int');
  await giveSubnet(sandbox);
  return sandbox;
}
