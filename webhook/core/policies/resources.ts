import type { ProofResources } from '../profiles/types.ts';
import { counted } from '../proof/resources.ts';
import { type Cel, ifAny, map, text } from './cel.ts';

/* The resources of the init container: proof/resources.ts as expressions. */

type AmountOf = (container: Cel, name: string) => Cel;

const limitOf: AmountOf = (container, name) => `${container}.?resources.?limits[?${text(name)}]`;
/** The API server has set requests that are missing to the limits: `SetDefaults_Pod` (pkg/apis/core/v1/defaults.go). */
const requestOf: AmountOf = (container, name) => `${container}.?resources.?requests[?${text(name)}]`;

/** Whether two optional amounts are equal; two that are missing are. */
export const sameAmount = (a: Cel, b: Cel): Cel =>
  `(${a}.hasValue() && ${b}.hasValue() ? quantity(${a}.value()).compareTo(quantity(${b}.value())) == 0 : ` +
  `${a}.hasValue() == ${b}.hasValue())`;

const isGuaranteed = `variables.others.all(c, ${['cpu', 'memory']
  .map(
    (name) => `${limitOf('c', name)}.hasValue() && ${sameAmount(limitOf('c', name), requestOf('c', name))}`,
  )
  .join(' && ')})`;

/** The resources that all other containers set. If all set 0, so does ours. */
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

/** The variables of the resources; `resources` is empty if the container has none. */
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
