import { spawn } from 'node:child_process';
import { type Continuous, env } from '../../../validator/shared/contract.ts';
import { run } from '../../support/run.ts';
import { gatewayAddress, nodeAddress } from './addresses.ts';
import { addNamespace, inside, removeNamespace } from './namespaces.ts';
import { validator } from './proof.ts';
import type { Sandbox } from './sandbox.ts';

/** Adds a pod to the node, connected as Cilium connects pods. @returns the pod's namespace and addresses */
export async function addPod(node: Sandbox, index: number): Promise<{ name: string; addresses: string[] }> {
  const name = await addNamespace('pod');
  node.onRemoval(() => removeNamespace(name));
  const addresses = [`10.244.2.${index + 1}`, `fd00:10:244:2::${(index + 1).toString(16)}`];
  const gateways = Object.values(gatewayAddress);
  await node.ip(
    'node',
    `link add name pod${index} type veth peer name eth0 netns ${name}`,
    `link set pod${index} up`,
    ...gateways.map(
      (address) => `addr add ${address} dev pod${index}${address.includes(':') ? ' nodad' : ''}`,
    ),
    ...addresses.map((address) => `route add ${address} dev pod${index}`),
  );
  const lines = [
    'link set lo up',
    'link set eth0 up',
    ...addresses.map((address) => `addr add ${address} dev eth0${address.includes(':') ? ' nodad' : ''}`),
    ...gateways.flatMap((gateway) => [
      `route add ${gateway} dev eth0 scope link`,
      `route add default via ${gateway} dev eth0`,
    ]),
  ];
  await run('ip', ['-netns', name, '-batch', '-'], `${lines.join('\n')}\n`);
  return { name, addresses };
}

const unprivileged = 'setpriv --reuid=64532 --regid=64532 --clear-groups --bounding-set=-all';

/**
 * Starts the validator in a pod's network namespace, without the container that `startProof` makes.
 * @param command the validator's arguments
 * @param first a shell command that runs before the validator starts
 */
export function startIn(
  pod: string,
  command: string,
  { checks, podIPs, continuous }: { checks: object[]; podIPs: string[]; continuous?: Continuous },
  first = ':',
) {
  const script = `${first} && exec ${unprivileged} ${validator} ${command}`;
  const child = spawn(...inside(pod, 'unshare', '--mount', 'sh', '-c', script), {
    env: {
      PATH: process.env.PATH,
      [env.checks]: JSON.stringify(checks),
      [env.podIPs]: podIPs.join(','),
      [env.nodeIPs]: Object.values(nodeAddress).join(','),
      ...(continuous && { [env.continuous]: JSON.stringify(continuous) }),
    },
  });
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  return { child, log: () => log };
}
