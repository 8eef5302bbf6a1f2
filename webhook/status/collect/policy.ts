import { apiPath, pathBelow } from '../../kubernetes/api-path.ts';
import type { ApiClient } from '../../kubernetes/client.ts';
import type { PolicyPair } from '../installation/facts.ts';
import { foundIn } from '../installation/facts.ts';
import { type ApiPolicySpec, conditionDigests, policyDigest } from '../installation/policy-rules.ts';
import { mapObservation, observe } from './observe.ts';

interface ApiBinding {
  spec: {
    policyName: string;
    validationActions?: string[] | null;
    matchResources?: object | null;
    paramRef?: { name?: string; namespace?: string } | null;
  };
}

const folder = '/apis/admissionregistration.k8s.io/v1';

/** Reads a policy of ours, the binding of the same name, and whether the ConfigMap with its parameters exists. */
export async function readPolicyPair(
  client: ApiClient,
  name: string,
  signal: AbortSignal,
): Promise<PolicyPair> {
  const get = <T>(kind: string): Promise<T> =>
    client.request<T>('GET', pathBelow(`${folder}/${kind}`, name), { signal });
  const [policy, binding] = await Promise.all([
    observe('it', get<{ spec: ApiPolicySpec }>('validatingadmissionpolicies')),
    observe('its binding', get<ApiBinding>('validatingadmissionpolicybindings')),
  ]);
  const { namespace, name: params } = foundIn(binding)?.spec.paramRef ?? {};
  const path = namespace && params && paramsPath(namespace, params);
  const paramsObject = path
    ? await observe('its ConfigMap', client.request('GET', path, { signal }))
    : undefined;
  return {
    name,
    policy: mapObservation(policy, ({ spec }) => ({
      digest: policyDigest(spec),
      conditions: conditionDigests(spec),
      ...(spec.failurePolicy && { failurePolicy: spec.failurePolicy }),
    })),
    binding: mapObservation(binding, ({ spec }) => ({
      policyName: spec.policyName,
      actions: spec.validationActions ?? [],
      narrowed: narrows(spec.matchResources),
      params: path ? `${namespace}/${params}` : undefined,
      paramsObject: paramsObject && mapObservation(paramsObject, (): true => true),
    })),
  };
}

const paramsPath = (namespace: string, name: string): string =>
  apiPath`/api/v1/namespaces/${namespace}/configmaps/${name}`;

/** The API server may fill in empty selectors; anything in them leaves objects out. */
function narrows(resources: object | null | undefined): boolean {
  const { matchPolicy: _, ...rest } = { matchPolicy: undefined, ...resources };
  return Object.values(rest).some((value) =>
    typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : value !== undefined,
  );
}
