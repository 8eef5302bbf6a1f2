import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../webhook/lib/errors.ts';
import { validatorContainer } from '../../../webhook/lib/names.ts';
import { Api } from '../harness/api.ts';
import type { Cluster } from '../harness/cluster.ts';

export interface Outcome {
  created: number;
  seconds: number;
  /** One entry for each creation that failed, or that returned a pod without our init container. */
  failures: string[];
}

export interface Load {
  more(count: number): Promise<void>;
  end(): Promise<Outcome>;
}

interface Pod {
  spec: { initContainers?: { name: string }[] };
}

/**
 * At most this many creations are in flight. On a slow machine, this limit lowers the rate. When a mutating policy comes
 * into force, each creation in flight reads the schema of pods: docs/reference/upstream-faults.md.
 */
const mostAtOnce = 30;

/**
 * Creates pods as a dry run, at a steady rate, in a namespace whose pods are refused if the webhook does not answer.
 *
 * @param t the load stops when this test ends
 * @param rate creations per second
 */
export function beginLoad(t: TestContext, cluster: Cluster, rate: number): Load {
  const api = new Api(cluster.admin, mostAtOnce);
  const failures: string[] = [];
  const underWay = new Set<Promise<void>>();
  let created = 0;
  const began = performance.now();
  const create = async (): Promise<void> => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { generateName: 'load-' },
      spec: { containers: [{ name: 'web', image: 'example/web' }] },
    };
    try {
      const path = '/api/v1/namespaces/shop/pods?dryRun=All';
      const { spec } = await api.post<Pod>(path, pod);
      if (spec.initContainers?.[0]?.name !== validatorContainer) throw new Error('not injected');
      created += 1;
    } catch (error) {
      failures.push(`${new Date().toISOString()} ${messageOf(error)}`);
    }
  };
  let begun = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - began) / 1000) * rate;
    while (begun < due && underWay.size < mostAtOnce) {
      begun += 1;
      const one = create().finally(() => underWay.delete(one));
      underWay.add(one);
    }
    // creations that would exceed the limit are skipped, not delayed
    if (begun < due) begun = Math.ceil(due);
  }, 10);
  t.after(() => clearInterval(timer));
  return {
    more: async (count) => {
      const goal = created + failures.length + count;
      while (created + failures.length < goal) await Promise.race([...underWay, sleep(10)]);
    },
    end: async () => {
      clearInterval(timer);
      await Promise.all(underWay);
      api.close();
      return { created, failures, seconds: (performance.now() - began) / 1000 };
    },
  };
}
