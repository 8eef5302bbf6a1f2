import { run } from '../../support/run.ts';
import { type Family, gatewayAddress, podAddress, withPrefix } from '../harness/addresses.ts';
import { addNamespace, removeNamespace } from '../harness/namespaces.ts';
import { Sandbox } from '../harness/sandbox.ts';

/* Networks whose own plugin is not at hand, set up on the node as the plugin does. */

const setting = async (sandbox: Sandbox, path: string, value: number): Promise<void> =>
  void (await sandbox.exec('node', 'sh', ['-c', `echo ${value} > /proc/sys/net/${path}`]));

async function link(sandbox: Sandbox, name: string): Promise<void> {
  await sandbox.ip(
    'node',
    `link add name ${name} address 02:00:00:00:00:01 type veth peer name eth0 netns ${sandbox.pod}`,
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
  await link(sandbox, 'ovnport');
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
  // a default route, because proxy ARP answers only for addresses to which the node has a route
  await sandbox.ip(
    'node',
    'link add uplink type veth peer name fabric',
    'link set fabric up',
    'link set uplink up',
    'addr add 192.168.50.2/24 dev uplink',
    'route replace default via 192.168.50.1 dev uplink',
  );
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
  await link(sandbox, 'podport');
  await sandbox.ip('node', 'link set podport master br-int');
  await giveSubnet(sandbox);
  return sandbox;
}
