import { own } from '../../lib/maps.ts';
import { validatorContainer } from '../../lib/names.ts';
import { quantity } from '../../lib/quantity.ts';
import { allContainers, type Container, type Pod, type Quantities, type Resources } from '../facts/pod.ts';
import type { ProofResources, ProofSettings } from '../profiles/types.ts';
import type { ProofRequirements } from './proof-requirements.ts';

/** The least limits of a network's own validator (`proof.container`), about which nothing is known. */
const leastOfOthers: Quantities = { cpu: '50m', memory: '64Mi' };

/** The resources that a ResourceQuota or a LimitRange may require of every container. */
const counted = ['cpu', 'memory', 'ephemeral-storage'] as const;

/**
 * Returns resources that do not change the pod's QoS class. Ours sets a request, or a limit, where *all* other containers
 * set one. So a BestEffort pod gets nothing, and a quota that requires a value of each container is satisfied. In a
 * Guaranteed pod, the requests equal the limits. The values do not depend on those of the pod: an init container keeps
 * its request when the pod is made smaller in place, and a whole number of CPUs would be exclusive.
 *
 * QoS: Kubernetes `pkg/apis/core/v1/helper/qos`. A pod with pod-level resources (`spec.resources`) is classified by
 * those, and its containers need none.
 */
export function resourcesFor(
  pod: Pod,
  { container }: ProofRequirements,
  { resources }: ProofSettings,
): Resources | undefined {
  if (hasPodResources(pod)) return undefined;
  const others = allContainers(pod).filter(({ name }) => name !== validatorContainer);
  const isGuaranteed = others.every((other) =>
    ['cpu', 'memory'].every((name) => limitOf(other, name) === requestOf(other, name)),
  );
  const amounts = container === undefined ? resources.limits : raised(resources.limits);
  const limits = whereAllSet(others, limitOf, amounts);
  const requests = whereAllSet(others, requestOf, isGuaranteed ? amounts : resources.requests);
  if (requests === undefined && limits === undefined) return undefined;
  return { ...(requests && { requests }), ...(limits && { limits }) };
}

/** NaN if there is none, or if it is invalid: the API server refuses those. */
const amountOf = (values: Quantities | null | undefined, name: string): number =>
  quantity(own(values, name) ?? Number.NaN);

/** The limits, each no less than that of a network's own validator. */
const raised = (limits: ProofResources['limits']): ProofResources['limits'] => ({
  ...limits,
  ...Object.fromEntries(
    Object.entries(leastOfOthers).filter(([name, least]) => amountOf(limits, name) < quantity(least)),
  ),
});

/** The amount of a resource of a container; NaN if it has none. */
type AmountOf = (container: Container, name: string) => number;

const limitOf: AmountOf = ({ resources }, name) => amountOf(resources?.limits, name);

/** The API server defaults requests to the limits; a manifest may not have passed it yet. */
const requestOf: AmountOf = ({ resources }, name) =>
  own(resources?.requests, name) === undefined
    ? amountOf(resources?.limits, name)
    : amountOf(resources?.requests, name);

/**
 * The amounts of the resources that all of the containers have. A zero stays zero: Kubernetes treats it as not set, and
 * more would change the pod's class. A pod may have many containers, so the first one without the resource decides.
 */
function whereAllSet(
  containers: readonly Container[],
  amountIn: AmountOf,
  amounts: ProofResources['limits'],
): Quantities | undefined {
  const entries = counted.flatMap((name): [string, string | number][] => {
    let isMore = false;
    const isSet = containers.every((container) => {
      const value = amountIn(container, name);
      isMore ||= value > 0;
      return !Number.isNaN(value);
    });
    return containers.length > 0 && isSet ? [[name, isMore ? amounts[name] : '0']] : [];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Whether the pod has pod-level resources, which decide its class instead of its containers'. */
export function hasPodResources(pod: Pod): boolean {
  const { requests, limits } = pod.spec.resources ?? {};
  return Object.keys(requests ?? {}).length + Object.keys(limits ?? {}).length > 0;
}
