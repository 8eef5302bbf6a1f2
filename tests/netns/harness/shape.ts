import {
  type Families,
  type Family,
  familiesOf,
  gatewayAddress,
  nodeAddress,
  podAddress,
  serviceRange,
  standInGateway,
  withPrefix,
} from './addresses.ts';

/**
 * How a pod reaches its gateway. `on-subnet`: as behind a bridge. `by-link-route`: as with Cilium, where the pod's
 * address has no subnet. `stand-in`: as with the AWS VPC CNI, where a permanent neighbour entry stands for a
 * gateway that does not exist. `none`: the pod has no interface but `lo`.
 */
export type Gateway = 'on-subnet' | 'by-link-route' | 'stand-in' | 'none';

export interface Shape {
  families: Families;
  gateway: Gateway;
  /** False for a pod that reaches only its subnet; `services` for a pod that also reaches the Services. */
  defaultRoute: boolean | 'services';
  /** The pod's addresses, if they are not the usual ones. */
  podAddress?: Record<Family, string>;
}

const nodeMac = '02:00:00:00:00:01';
const podMac = '02:00:00:00:00:07';

/** Batch lines of `ip` for the node's namespace and for the pod's. */
export function linkLines(shape: Shape, podNamespace: string): { node: string[]; pod: string[] } {
  // drops packets to networks without a route; otherwise the kernel would answer some of them with an error
  const node = ['link set lo up', 'route add blackhole 0.0.0.0/0', 'route add blackhole ::/0'];
  const pod = ['link set lo up'];
  node.push(
    ...familiesOf('dual').map(
      (family) => `addr add ${withPrefix(family, nodeAddress[family], 'host')} dev lo`,
    ),
  );
  if (shape.gateway === 'none') return { node, pod };
  node.push(
    `link add name pod0 address ${nodeMac} type veth peer name eth0 address ${podMac} netns ${podNamespace}`,
    'link set pod0 up',
  );
  node.push(...familiesOf(shape.families).flatMap((family) => familyLines(shape, family).node));
  return { node, pod: [...pod, ...podLines(shape)] };
}

export function podLines(shape: Shape): string[] {
  const lines = familiesOf(shape.families).flatMap((family) => familyLines(shape, family).pod);
  return ['link set eth0 up', ...lines];
}

function familyLines(shape: Shape, family: Family): { node: string[]; pod: string[] } {
  const own = (shape.podAddress ?? podAddress)[family];
  const add = (address: string, link: string): string =>
    `addr add ${address} dev ${link}${family === 'ipv6' ? ' nodad' : ''}`;
  if (shape.gateway === 'on-subnet') {
    return {
      node: [add(withPrefix(family, gatewayAddress[family], 'subnet'), 'pod0')],
      pod: [
        add(withPrefix(family, own, 'subnet'), 'eth0'),
        ...routeLines(shape, family, gatewayAddress[family]),
      ],
    };
  }
  const standIn = shape.gateway === 'stand-in';
  const gateway = (standIn ? standInGateway : gatewayAddress)[family];
  const toPod = `route add ${own} dev pod0`;
  return {
    node: standIn ? [toPod] : [add(withPrefix(family, gateway, 'host'), 'pod0'), toPod],
    pod: [
      add(withPrefix(family, own, 'host'), 'eth0'),
      // a link-local gateway needs no route to be reached
      ...(gateway.startsWith('fe80') ? [] : [`route add ${gateway} dev eth0 scope link`]),
      ...(standIn ? [`neigh add ${gateway} lladdr ${nodeMac} dev eth0 nud permanent`] : []),
      ...routeLines(shape, family, gateway),
    ],
  };
}

function routeLines(shape: Shape, family: Family, gateway: string): string[] {
  if (shape.defaultRoute === false) return [];
  const to = shape.defaultRoute === 'services' ? serviceRange[family] : 'default';
  return [`route add ${to} via ${gateway} dev eth0`];
}
