import { type Families, podAddress, secondAddress } from '../harness/addresses.ts';
import type { NetworkName } from '../harness/pods.ts';
import type { Gateway } from '../harness/shape.ts';
import { ambient } from '../rules/ambient.ts';
import { backends } from '../rules/backends.ts';
import { istio } from '../rules/istio.ts';
import { linkerd } from '../rules/linkerd.ts';
import type { Plan } from './plan.ts';
import { addSecondInterface, networkStatusOf, openZtunnel, write } from './steps.ts';

export interface WriterCell {
  row: string;
  column: string;
  network: NetworkName;
  plan: Plan;
}

const columns: Record<string, Families> = { IPv4: 'ipv4', IPv6: 'ipv6', both: 'dual' };
const everyFamily = Object.entries(columns);

const meshes = [
  { network: 'linkerd', rules: linkerd() },
  { network: 'istio', rules: istio() },
  { network: 'istio-ambient', rules: ambient() },
] as const;

const plugins: { network: NetworkName; gateway: Gateway; row: string }[] = [
  { network: 'cilium', gateway: 'by-link-route', row: 'cilium, gateway by a link route' },
  { network: 'cilium', gateway: 'on-subnet', row: 'cilium, gateway on the subnet' },
  { network: 'aws-vpc-cni', gateway: 'stand-in', row: 'aws-vpc-cni, permanent neighbour' },
];

export const writerCells: WriterCell[] = [
  ...meshes.flatMap(({ network, rules }) =>
    backends.flatMap((backend) =>
      everyFamily.map(([column, families]): WriterCell => {
        const listeners = network === 'istio-ambient' ? [openZtunnel] : [];
        return {
          row: `${network} by ${backend}`,
          column,
          network,
          plan: { shape: { families }, before: [write(rules, { backend }), ...listeners] },
        };
      }),
    ),
  ),
  ...plugins.flatMap(({ network, gateway, row }) =>
    everyFamily.map(
      ([column, families]): WriterCell => ({
        row,
        column,
        network,
        plan: { shape: { families, gateway } },
      }),
    ),
  ),
  ...everyFamily.map(
    ([column, families]): WriterCell => ({
      row: 'multus',
      column,
      network: 'multus',
      plan: {
        shape: { families },
        before: [addSecondInterface()],
        options: { networkStatus: networkStatusOf(families, podAddress, secondAddress) },
      },
    }),
  ),
];
