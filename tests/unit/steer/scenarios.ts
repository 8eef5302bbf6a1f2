import type { NodeFacts } from '../../../webhook/readiness/facts.ts';
import type { PendingPod } from '../../../webhook/steer/pending-pod.ts';
import type { Snapshot } from '../../../webhook/steer/plan.ts';
import { known, node, now, usage, waiting } from './support.ts';

export interface Scenario {
  pods: PendingPod[];
  known: Snapshot;
  max: number;
}

/** Whole numbers below a bound, the same ones in every run: a linear congruential generator. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A cluster with held pods of one namespace: several Deployments, zones, taints, nodes that are full or not ready. */
export function scenario(seed: number): Scenario {
  const below = numbersFrom(seed);
  const nodes: NodeFacts[] = Array.from({ length: 2 + below(30) }, (_, index) =>
    node(`n${index}`, {
      labels: { name: `n${index}`, zone: `z${below(3)}` },
      taints: below(5) === 0 ? [{ key: 'gpu', value: '', effect: 'NoSchedule' }] : [],
      unschedulable: below(8) === 0,
      allocatable: { cpu: 500 + 250 * below(4), pods: 4 + below(8) },
    }),
  );
  const ready = new Map(nodes.map(({ name }) => [name, below(3) > 0]));
  const used = new Map(nodes.map(({ name }) => [name, { cpu: 100 * below(6), pods: below(4) }]));
  const groups = Array.from({ length: 1 + below(5) }, (_, index) => ({
    group: `d${index}`,
    cpu: 50 + 50 * below(4),
    zone: below(2) === 0 ? `z${below(3)}` : undefined,
    tolerates: below(3) === 0,
    unverifiable: below(4) === 0,
  }));
  const pods = Array.from({ length: below(60) }, (_, index) => {
    const { group, cpu, zone, tolerates, unverifiable } = groups[below(groups.length)] ?? {
      group: '',
      cpu: 50,
    };
    return waiting(`p${index}`, {
      group,
      unverifiable: unverifiable ?? false,
      heldSince: now - 1000 * below(100),
      refused: below(8) === 0 ? undefined : `n${below(nodes.length)}`,
      nominated: below(6) === 0 ? `n${below(40)}` : '',
      leaving: below(12) === 0,
      tooLarge: below(15) === 0,
      constraints: zone === undefined ? {} : { nodeSelector: { zone } },
      tolerations: tolerates ? [{ operator: 'Exists' }] : [],
      requests: { cpu, pods: 1 },
    });
  });
  const isKnown = new Map(nodes.map(({ name }) => [name, below(6) > 0]));
  return {
    pods,
    known: known(nodes, {
      accepts: (_, name) => ready.get(name) !== false,
      usage: (name) =>
        isKnown.get(name) ? usage(used.get(name) ?? {}, { d0: used.get(name)?.pods ?? 0 }) : undefined,
      start: below(20),
    }),
    max: below(3) === 0 ? 5 : 100,
  };
}
