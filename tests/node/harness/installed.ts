import { after } from 'node:test';
import { Cluster } from '../../cluster/harness/cluster.ts';
import { install } from '../../cluster/installed/installation.ts';
import type { RunningPod } from '../../cluster/installed/pod.ts';
import { gateImages, sandboxImage, standIn } from '../images/images.ts';
import type { Image } from '../images/layout.ts';
import { chained, installerImage, linkerdCni } from '../mesh/daemon-set.ts';
import { forNodes } from './network.ts';
import { RealNode } from './node.ts';

interface Installed {
  cluster: Cluster;
  /** cni-gate's pods, on two simulated nodes. */
  replicas: RunningPod[];
  node: RealNode;
  /** The image of a container that only waits until it is stopped. */
  image: Image;
}

/** A cluster with a real node, and with cni-gate, until the end of the test file. @param images more images for pods */
export async function installedNode(...images: Image[]): Promise<Installed> {
  const cluster = await Cluster.start(forNodes);
  after(() => cluster.stop());
  const { replicas } = await install(cluster, 'strict');
  after(() => Promise.all(replicas.map((replica) => replica.end('SIGKILL'))));
  const image = standIn('localhost/waits:test', 'pause.ts');
  const node = await RealNode.start(cluster, 'node-1', [...gateImages(), sandboxImage(), image, ...images]);
  after(() => node.powerCut());
  return { cluster, replicas, node, image };
}

/** As {@link installedNode}, with a mesh's plugin in the node's chain. */
export async function meshedNode(...images: Image[]): Promise<Installed> {
  const installed = await installedNode(installerImage(), ...images);
  await installed.cluster.apply(...linkerdCni(installed.cluster.server, 0));
  await chained(installed.node);
  return installed;
}
