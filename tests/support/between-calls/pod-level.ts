import type { Container, Pod, Quantities } from '../../../webhook/admission/pod.ts';
import { canonical, nanos } from '../kubernetes/quantity.ts';

const supported = ['cpu', 'memory'];

type Totals = Map<string, bigint>;

const totalsOf = (requests: Quantities | null | undefined): Totals =>
  new Map(
    Object.entries(requests ?? {})
      .filter(([name]) => supported.includes(name))
      .map(([name, value]) => [name, nanos(value) ?? 0n]),
  );

const merge = (one: Totals, other: Totals, by: (a: bigint, b: bigint) => bigint): Totals =>
  new Map([...one, ...other].map(([name]) => [name, by(one.get(name) ?? 0n, other.get(name) ?? 0n)]));

const add = (a: bigint, b: bigint): bigint => a + b;
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** What the containers request together: component-helpers `resource/helpers.go`, `AggregateContainerRequests`. */
function aggregate(containers: Container[], initContainers: Container[]): Totals {
  let total = containers
    .map((container) => totalsOf(container.resources?.requests))
    .reduce((one, other) => merge(one, other, add), new Map());
  let sidecars: Totals = new Map();
  let starting: Totals = new Map();
  for (const container of initContainers) {
    const own = totalsOf(container.resources?.requests);
    if (container.restartPolicy === 'Always') {
      total = merge(total, own, add);
      sidecars = merge(sidecars, own, add);
      starting = merge(starting, sidecars, max);
    } else {
      starting = merge(starting, merge(sidecars, own, add), max);
    }
  }
  return merge(total, starting, max);
}

/** Requests of the pod's own, where it has limits: Kubernetes `pkg/apis/core/v1/defaults.go`, `defaultPodRequests`. */
export function fillPodRequests({ spec }: Pod): void {
  const { resources } = spec;
  if (!resources?.limits || Object.keys(resources.limits).length === 0) return;
  const together = aggregate(spec.containers, spec.initContainers ?? []);
  resources.requests = {
    ...resources.limits,
    ...Object.fromEntries([...together].map(([name, amount]) => [name, canonical(`${amount}n`)])),
    ...resources.requests,
  };
}
