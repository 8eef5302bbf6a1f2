import type { NetworkName } from '../harness/pods.ts';
import { ambientCells } from './ambient.ts';
import { istioCells, linkerdCells } from './meshes.ts';
import { multusCells } from './multus.ts';
import type { Cells } from './plan.ts';
import { awsCells, ciliumCells } from './plugins.ts';

export const networks: Record<NetworkName, Cells> = {
  linkerd: linkerdCells,
  istio: istioCells,
  'istio-ambient': ambientCells,
  cilium: ciliumCells,
  'aws-vpc-cni': awsCells,
  multus: multusCells,
};

export const networkNames = Object.keys(networks) as NetworkName[];
