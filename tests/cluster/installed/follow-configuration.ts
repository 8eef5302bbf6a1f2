import { messageOf } from '../../../webhook/lib/errors.ts';
import type { Cluster } from '../harness/cluster.ts';
import type { RunningPod } from './pod.ts';

const path = '/api/v1/namespaces/cni-gate/configmaps/cni-gate';

/** Rewrites the pods' volumes whenever the ConfigMap changes, as kubelets do. @returns a function that stops it */
export function followConfiguration(
  cluster: { api: Pick<Cluster['api'], 'get'> },
  pods: readonly Pick<RunningPod, 'refresh'>[],
  interval = 1000,
): () => void {
  let written: string | undefined;
  let told: string | undefined;
  let timer: NodeJS.Timeout;
  let hasEnded = false;
  const look = async (): Promise<void> => {
    try {
      const { metadata } = await cluster.api.get<{ metadata: { resourceVersion: string } }>(path);
      if (metadata.resourceVersion !== written && !hasEnded) {
        await Promise.all(pods.map((pod) => pod.refresh()));
        written = metadata.resourceVersion;
      }
    } catch (error) {
      // the ConfigMap is deleted or the API server is down, so the pods keep their files
      const failure = messageOf(error);
      if (!hasEnded && failure !== told)
        process.stderr.write(`the configuration cannot be read: ${failure}\n`);
      told = failure;
    }
    if (!hasEnded) timer = setTimeout(() => void look(), interval).unref();
  };
  timer = setTimeout(() => void look(), 0).unref();
  return () => {
    hasEnded = true;
    clearTimeout(timer);
  };
}
