import type { ProofResources } from '../../core/profiles/types.ts';
import { quantity } from '../../lib/quantity.ts';
import type { CheckFacts } from '../facts/collect.ts';
import type { LimitFacts } from '../facts/limits.ts';
import { type Finding, failed, few, judged, mostTexts, passed } from './finding.ts';
import { optedIn, unknownConfiguration } from './namespaces.ts';

/** Whether the LimitRanges and ResourceQuotas of opted-in namespaces accept the init container's resources. */
export function checkResources(facts: CheckFacts): Finding {
  const { configuration, namespaces, limits } = facts;
  if (configuration.trouble !== undefined) return unknownConfiguration;
  const { resources } = configuration.policy.proof;
  const names = new Set(optedIn(facts).map(({ name }) => name));
  return judged(namespaces, () =>
    judged(limits, (all = []) => {
      const found = all.filter(({ namespace = '' }) => names.has(namespace));
      const texts = found.flatMap((one) => faultsOf(one, resources));
      if (texts.length === 0)
        return passed(
          found.length === 0 ? 'opted-in namespaces have none' : `accepted by all ${found.length}`,
        );
      return failed(
        'CNI_GATE_RESOURCES',
        few(texts, mostTexts, '; '),
        'Set proof.resources in the configuration to values that fit',
      );
    }),
  );
}

/**
 * Why the API server refuses a pod whose containers have requests and limits. Source: Kubernetes,
 * `plugin/pkg/admission/limitranger`, `PodValidateLimitFunc`; of a quota, a pod uses what its largest init container asks.
 */
function faultsOf({ namespace, object, containers, hard }: LimitFacts, { requests, limits }: ProofResources) {
  const texts = (Object.keys(limits) as (keyof typeof limits)[]).flatMap((name) => {
    const [request, limit] = [quantity(requests[name]), quantity(limits[name])];
    const [requested, limited] = [`requests.${name} ${requests[name]}`, `limits.${name} ${limits[name]}`];
    const unless = (field: string, value = '', fits: (amount: number) => boolean, ours: string): string[] =>
      value === '' || fits(quantity(value)) ? [] : [`${field} is ${value}, ${ours}`];
    const mayRequest = (amount: number): boolean => amount >= request;
    const mayLimit = (amount: number): boolean => amount >= limit;
    return [
      ...containers.flatMap(({ min, max, maxLimitRequestRatio: ratio }) => [
        ...unless(`min.${name}`, min?.[name], (amount) => amount <= request, requested),
        ...unless(`max.${name}`, max?.[name], mayLimit, limited),
        ...unless(
          `maxLimitRequestRatio.${name}`,
          ratio?.[name],
          (amount) => amount >= limit / request,
          `${limited} and ${requested}`,
        ),
      ]),
      ...unless(name, hard[name], mayRequest, requested),
      ...unless(`requests.${name}`, hard[`requests.${name}`], mayRequest, requested),
      ...unless(`limits.${name}`, hard[`limits.${name}`], mayLimit, limited),
    ];
  });
  return texts.map((text) => `namespace ${namespace}, ${object}: ${text}`);
}
