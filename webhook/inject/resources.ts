import { allContainers, type Pod, type Quantities, type Resources } from '../admission/pod.ts';
import { validatorContainer } from '../lib/names.ts';
import { own } from '../lib/own.ts';
import { quantity } from '../lib/quantity.ts';

/** The least that the validator can run with: a smaller memory limit would kill it, less cpu only slows it. */
const least: Quantities = { cpu: '50m', memory: '64Mi' };

/** What a ResourceQuota or a LimitRange may ask of every container. */
const counted = ['cpu', 'memory', 'ephemeral-storage'];

/**
 * Resources that leave the pod what it was. Whatever *all* other containers set, ours sets too, to the largest
 * value among them; what one of them leaves out, ours leaves out. So a BestEffort pod gets nothing, a Guaranteed
 * pod gets limits equal to requests, a quota that asks each container for a value finds one, and because init
 * containers count by their maximum the pod asks its node for no more than before (but for tiny pods: see `least`).
 *
 * QoS: Kubernetes `pkg/apis/core/v1/helper/qos`. A pod with resources of its own (`spec.resources`) is classed by
 * those, and its containers need none.
 */
export function resourcesFor(pod: Pod): Resources | undefined {
  if (hasPodResources(pod)) return undefined;
  const others = allContainers(pod).filter((container) => container.name !== validatorContainer);
  // the API server sets requests that are left out to the limits; a manifest may not have been there yet
  const requests = common(others.map(({ resources }) => ({ ...resources?.limits, ...resources?.requests })));
  const limits = common(others.map((container) => container.resources?.limits));
  if (requests === undefined && limits === undefined) return undefined;
  return { ...(requests && { requests }), ...(limits && { limits }) };
}

/** Whether the pod has resources of its own, so that its containers' do not decide its class. */
export function hasPodResources(pod: Pod): boolean {
  const { requests, limits } = pod.spec.resources ?? {};
  return Object.keys(requests ?? {}).length + Object.keys(limits ?? {}).length > 0;
}

/** The largest value of each resource that every one of the maps has. */
function common(maps: (Quantities | null | undefined)[]): Quantities | undefined {
  const result: Quantities = {};
  for (const name of counted) {
    const values = maps.map((map) => own(map, name)).filter(isQuantity);
    if (values.length === maps.length && values.length > 0) {
      result[name] = largest(values, least[name]);
    }
  }
  return Object.keys(result).length > 0 ? result : undefined;
}

/** What is no quantity is for the API server to refuse, in the container that has it. */
const isQuantity = (value: string | number | undefined): value is string | number =>
  value !== undefined && !Number.isNaN(quantity(value));

/** A zero stays zero: Kubernetes counts it as not set, and more would change the pod's class. */
function largest(values: (string | number)[], floor: string | number | undefined): string | number {
  const max = values.reduce((one, other) => (quantity(other) > quantity(one) ? other : one));
  return floor !== undefined && quantity(max) > 0 && quantity(max) < quantity(floor) ? floor : max;
}
