import assert from 'node:assert/strict';
import { optedIn, type Pod, type Scene } from '../gate/scene.ts';
import type { Cluster } from '../harness/cluster.ts';
import { workload } from '../harness/objects.ts';

/** The number of pods in each Deployment. */
export const replicas = 50;

export function crowd(name: string, whenUnsatisfiable: 'ScheduleAnyway' | 'DoNotSchedule'): object {
  const spread = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable,
    labelSelector: { matchLabels: { app: name } },
  };
  const resources = { requests: { cpu: '50m' } };
  const spec = {
    topologySpreadConstraints: [spread],
    containers: [{ name: 'web', image: 'example/web', resources }],
  };
  return workload('Deployment', name, { namespace: optedIn, replicas, spec });
}

export async function placed({ api }: Cluster, name: string): Promise<string[]> {
  const { items } = await api.get<{ items: Pod[] }>(pathOf(name));
  return items.flatMap(({ spec }) => spec.nodeName ?? []);
}

export async function bound(cluster: Cluster, name: string, seconds: number): Promise<void> {
  const seen = new Set<string>();
  const all = ({ metadata, spec }: Pod): boolean => {
    if (spec.nodeName) seen.add(metadata.name);
    return seen.size === replicas;
  };
  await cluster.api.until<Pod>(pathOf(name), all, seconds).catch(() => {
    assert.fail(`${seen.size} of ${replicas} pods of ${name} are bound after ${seconds} s`);
  });
}

const pathOf = (name: string): string => `/api/v1/namespaces/${optedIn}/pods?labelSelector=app%3D${name}`;

/** A pod, and the times when it was refused, in milliseconds since the epoch. */
export interface Refused {
  pod: string;
  times: number[];
}

/** The refusals of each pod whose name begins with `name`. */
export function refusals({ server }: Scene, name: string): Refused[] {
  const lines = server.lines.filter(
    ({ outcome, webhook, pod }) =>
      outcome === 'refused' && webhook === 'gate' && String(pod).startsWith(name),
  );
  return [...Map.groupBy(lines, ({ pod }) => String(pod))].map(([pod, some]) => ({
    pod,
    times: some.map(({ time }) => Date.parse(String(time))),
  }));
}

export function counted(all: Refused[]): { total: number; pods: number; max: number } {
  const counts = all.map(({ times }) => times.length);
  return {
    total: counts.reduce((sum, count) => sum + count, 0),
    pods: counts.length,
    max: Math.max(0, ...counts),
  };
}
