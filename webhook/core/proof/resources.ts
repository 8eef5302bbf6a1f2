import { getOwn } from '../../lib/maps.ts';
import { quantity } from '../../lib/quantity.ts';
import {
  type Container,
  containersBesides,
  type Pod,
  type Quantities,
  type Resources,
} from '../facts/pod.ts';
import type { ProofResources } from '../profiles/types.ts';

/** The resources that a ResourceQuota or a LimitRange can demand of every container. */
export const counted = ['cpu', 'memory', 'ephemeral-storage'] as const;

/** The minimum limits for a network's own validator (`proof.container`), whose needs are unknown. */
const leastOfOwnValidator = { cpu: '50m', memory: '64Mi' };

/**
 * Returns resources that do not change the pod's QoS class (Kubernetes `pkg/apis/core/v1/helper/qos`): a request or
 * limit where *all* other containers set one, which also satisfies a quota. The values are not copied from the pod:
 * copies would not shrink when the pod is resized in place, and could make the static CPU manager reserve whole CPUs.
 */
export function resourcesFor(
  pod: Pod,
  ownValidator: boolean,
  { requests, limits }: ProofResources,
): Resources | undefined {
  if (hasPodResources(pod)) return undefined;
  const others = containersBesides(pod);
  const isGuaranteed = others.every((container) =>
    ['cpu', 'memory'].every((name) => limitOf(container, name) === requestOf(container, name)),
  );
  const { cpu, memory } = leastOfOwnValidator;
  const most = ownValidator
    ? { ...limits, cpu: larger(limits.cpu, cpu), memory: larger(limits.memory, memory) }
    : limits;
  const result = {
    ...whereAllSet('requests', others, requestOf, isGuaranteed ? most : requests),
    ...whereAllSet('limits', others, limitOf, most),
  };
  return Object.keys(result).length === 0 ? undefined : result;
}

const larger = (amount: string | number, least: string): string | number =>
  quantity(amount) < quantity(least) ? least : amount;

/** The amount of a resource of a container; NaN if it is missing or invalid (the API server rejects an invalid one). */
type AmountOf = (container: Container, name: string) => number;

const limitOf: AmountOf = ({ resources }, name) => quantity(getOwn(resources?.limits, name) ?? Number.NaN);

/** The request, or else the limit, as the API server sets it by default. A manifest does not have the defaults yet. */
const requestOf: AmountOf = ({ resources }, name) =>
  quantity(getOwn(resources?.requests, name) ?? getOwn(resources?.limits, name) ?? Number.NaN);

/** The amounts of the resources that all containers set. If all set 0, ours is 0 too: Kubernetes treats 0 as unset. */
function whereAllSet(
  field: keyof Resources,
  containers: readonly Container[],
  amountOf: AmountOf,
  amounts: ProofResources['limits'],
): Resources {
  if (containers.length === 0) return {};
  const set = counted.filter((name) =>
    containers.every((container) => !Number.isNaN(amountOf(container, name))),
  );
  const values = set.map((name): [string, string | number] => [
    name,
    containers.some((container) => amountOf(container, name) > 0) ? amounts[name] : '0',
  ]);
  return values.length === 0 ? {} : { [field]: Object.fromEntries(values) as Quantities };
}

/** Whether the pod has pod-level resources, which decide its QoS class in place of its containers' resources. */
export function hasPodResources(pod: Pod): boolean {
  const { requests, limits } = pod.spec.resources ?? {};
  return Object.keys(requests ?? {}).length + Object.keys(limits ?? {}).length > 0;
}
