import type { RunningPod } from '../../cluster/installed/pod.ts';

/**
 * The sum of a metric of cni-gate over all series that carry the labels, in all replicas; 0 where there is none.
 *
 * @param labels in the order in which they are printed: `source="configuration",result="success"`
 */
export async function ownMetric(replicas: RunningPod[], name: string, labels: string): Promise<number> {
  const texts = await Promise.all(replicas.map(async (replica) => (await replica.ops('/metrics')).text()));
  return texts
    .flatMap((text) => text.split('\n'))
    .filter((line) => line.startsWith(`${name}{`) && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
