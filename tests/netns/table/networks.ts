import type { NetworkName } from '../harness/pods.ts';
import { ambientCells, istioCells, linkerdCells } from './meshes.ts';
import type { Cells } from './plan.ts';
import { awsCells, ciliumCells, multusCells } from './plugins.ts';

/** The columns of the table: every built-in profile. */
export const networks: Record<NetworkName, Cells> = {
  linkerd: linkerdCells,
  istio: istioCells,
  'istio-ambient': ambientCells,
  cilium: ciliumCells,
  'aws-vpc-cni': awsCells,
  multus: multusCells,
};

export const networkNames = Object.keys(networks) as NetworkName[];
