import { own } from '../../lib/maps.ts';
import { validatorContainer } from '../../lib/names.ts';
import { quantity } from '../../lib/quantity.ts';
import { allContainers, type Container, type Pod, type Quantities, type Resources } from '../pod.ts';

/**
 * The least resources of our validator: a smaller memory limit could kill it, or keep the runtime from starting it; less
 * cpu only slows it. It takes 9 MiB at most, whatever its checks are: docs/decisions/injection.md
 */
export const minRequests: Quantities = { cpu: '50m', memory: '32Mi' };

/** The same of a network's own validator (`proof.container`), about which nothing is known. */
export const minRequestsOfOthers: Quantities = { cpu: '50m', memory: '64Mi' };

/** The requests of a container that waits for as long as its pod runs. */
const ofSidecar: Quantities = { cpu: '1m', memory: '4Mi', 'ephemeral-storage': '1Mi' };

/**
 * Its cpu in a Guaranteed pod, where the request is the limit: the least that the kubelet passes on (1 ms in 100 ms). A
 * container of runc starts and proves within 0.5 s with it: docs/decisions/injection.md
 */
const cpuOfGuaranteed = '10m';

/** The resources that a ResourceQuota or a LimitRange may require of every container. */
const counted = ['cpu', 'memory', 'ephemeral-storage'];

/**
 * Returns resources that do not change the pod's QoS class. If *all* other containers set a value, ours sets the
 * largest of them; otherwise ours leaves it out. So a BestEffort pod gets nothing, a Guaranteed pod gets limits equal
 * to requests, and a quota that requires a value of each container is satisfied. Init containers count by their
 * maximum, so the pod requests no more than before (except tiny pods, whose values are raised to `least`).
 *
 * A sidecar's values add to the pod's, so it sets the least ones.
 *
 * QoS: Kubernetes `pkg/apis/core/v1/helper/qos`. A pod with pod-level resources (`spec.resources`) is classified by
 * those, and its containers need none.
 */
export function resourcesFor(pod: Pod, least = minRequests, isSidecar = false): Resources | undefined {
  if (hasPodResources(pod)) return undefined;
  const others = allContainers(pod).filter((container) => container.name !== validatorContainer);
  // the API server defaults requests to the limits; a manifest may not have passed it yet
  const requests = common(
    others.map(({ resources }) => ({ ...resources?.limits, ...resources?.requests })),
    least,
  );
  const limits = common(
    others.map((container) => container.resources?.limits),
    least,
  );
  if (requests === undefined && limits === undefined) return undefined;
  if (isSidecar) {
    const bounds = { ...ofSidecar, ...least };
    const guaranteed = isGuaranteed(others) && { ...bounds, cpu: cpuOfGuaranteed };
    return {
      ...(requests && { requests: replaced(requests, guaranteed || ofSidecar) }),
      ...(limits && { limits: replaced(limits, guaranteed || bounds) }),
    };
  }
  return { ...(requests && { requests }), ...(limits && { limits }) };
}

/** The same keys with other values; a zero stays zero. */
const replaced = (values: Quantities, by: Quantities): Quantities =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, quantity(value) > 0 ? (by[name] ?? value) : value]),
  );

/** Whether each container has limits for cpu and memory, and requests that equal them. */
const isGuaranteed = (containers: Container[]): boolean =>
  containers.every(({ resources }) =>
    ['cpu', 'memory'].every((name) => {
      const limit = own(resources?.limits, name);
      return limit !== undefined && quantity(own(resources?.requests, name) ?? limit) === quantity(limit);
    }),
  );

/** Whether the pod has pod-level resources, which decide its class instead of its containers'. */
export function hasPodResources(pod: Pod): boolean {
  const { requests, limits } = pod.spec.resources ?? {};
  return Object.keys(requests ?? {}).length + Object.keys(limits ?? {}).length > 0;
}

/** The largest value of each resource that all of the maps have. */
function common(maps: (Quantities | null | undefined)[], least: Quantities): Quantities | undefined {
  let result: Quantities | undefined;
  for (const name of counted) {
    const value = largest(maps, name, least[name]);
    if (value !== undefined) result = { ...result, [name]: value };
  }
  return result;
}

/**
 * The largest value of a resource, and no less than the floor; undefined if one of the maps does not have it. A zero
 * stays zero: Kubernetes treats it as not set, and more would change the pod's class.
 */
function largest(
  maps: (Quantities | null | undefined)[],
  name: string,
  floor: string | number | undefined,
): string | number | undefined {
  let value: string | number | undefined;
  let amount = Number.NEGATIVE_INFINITY;
  for (const map of maps) {
    const other = own(map, name) ?? Number.NaN;
    // an invalid quantity is left to the API server to refuse
    const otherAmount = quantity(other);
    if (Number.isNaN(otherAmount)) return undefined;
    if (otherAmount > amount) [value, amount] = [other, otherAmount];
  }
  return floor !== undefined && amount > 0 && amount < quantity(floor) ? floor : value;
}
