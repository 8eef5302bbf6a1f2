import type { ProofResources } from '../profiles/types.ts';
import { counted } from '../proof/resources.ts';
import { type Cel, ifAny, map, text } from './cel.ts';

/* The CEL counterpart of proof/resources.ts: the resources of the init container. */

type AmountOf = (container: Cel, name: string) => Cel;

const limitOf: AmountOf = (container, name) => `${container}.?resources.?limits[?${text(name)}]`;
/**
 * If the user omits a request, the API server has already set the request to the limit: `SetDefaults_Pod`
 * (pkg/apis/core/v1).
 */
const requestOf: AmountOf = (container, name) => `${container}.?resources.?requests[?${text(name)}]`;

/** Whether two optional amounts are equal, or both missing. */
export const sameAmount = (a: Cel, b: Cel): Cel =>
  `(${a}.hasValue() && ${b}.hasValue() ? quantity(${a}.value()).compareTo(quantity(${b}.value())) == 0 : ` +
  `${a}.hasValue() == ${b}.hasValue())`;

const isGuaranteed = `variables.others.all(c, ${['cpu', 'memory']
  .map(
    (name) => `${limitOf('c', name)}.hasValue() && ${sameAmount(limitOf('c', name), requestOf('c', name))}`,
  )
  .join(' && ')})`;

/** The resources that all other containers set. If all of them set 0, our container sets 0 too. */
const whereAllSet = (amountOf: AmountOf, amount: (name: (typeof counted)[number]) => Cel): Cel =>
  map(
    Object.fromEntries(
      counted.map((name) => {
        const value = amountOf('c', name);
        const isAboveZero = `variables.others.exists(c, quantity(${value}.value()).isGreaterThan(quantity("0")))`;
        return [
          name,
          {
            when: `variables.others.all(c, ${value}.hasValue())`,
            value: `${isAboveZero} ? ${amount(name)} : "0"`,
          },
        ];
      }),
    ),
  );

/** The variables for the container's resources; `resources` is an empty map if the container has none. */
export function resourceVariables({ requests, limits }: ProofResources): Record<string, Cel> {
  const limit = (name: (typeof counted)[number]): Cel => text(String(limits[name]));
  const request = (name: (typeof counted)[number]): Cel =>
    `(variables.isGuaranteed ? ${limit(name)} : ${text(String(requests[name]))})`;
  const ofPod = ['requests', 'limits'].map((field) => `size(object.spec.?resources.?${field}.orValue({}))`);
  return {
    hasPodResources: `${ofPod.join(' + ')} > 0`,
    isGuaranteed,
    requests: whereAllSet(requestOf, request),
    limits: whereAllSet(limitOf, limit),
    resources: `variables.hasPodResources ? {} : ${map({ requests: ifAny('requests'), limits: ifAny('limits') })}`,
  };
}
