import { after } from 'node:test';
import { Cluster } from './cluster.ts';
import type { ClusterOptions } from './options.ts';

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const cluster = await Cluster.start(options);
  after(() => cluster.stop());
  return cluster;
}
