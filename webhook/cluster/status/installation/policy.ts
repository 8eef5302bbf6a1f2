import type { PolicyPair } from '../../../status/installation/facts.ts';
import { foundIn } from '../../../status/installation/facts.ts';
import {
  type ApiPolicySpec,
  conditionDigests,
  policyDigest,
} from '../../../status/installation/policy-rules.ts';
import { apiPath, pathBelow } from '../../api-path.ts';
import type { ApiClient } from '../../client.ts';
import { pickSeen, see } from './seen.ts';

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
    see('it', get<{ spec: ApiPolicySpec }>('validatingadmissionpolicies')),
    see('its binding', get<ApiBinding>('validatingadmissionpolicybindings')),
  ]);
  const { namespace, name: params } = foundIn(binding)?.spec.paramRef ?? {};
  const path = namespace && params && paramsPath(namespace, params);
  const paramsObject = path ? await see('its ConfigMap', client.request('GET', path, { signal })) : undefined;
  return {
    name,
    policy: pickSeen(policy, ({ spec }) => ({
      digest: policyDigest(spec),
      conditions: conditionDigests(spec),
      ...(spec.failurePolicy && { failurePolicy: spec.failurePolicy }),
    })),
    binding: pickSeen(binding, ({ spec }) => ({
      policyName: spec.policyName,
      actions: spec.validationActions ?? [],
      narrowed: narrows(spec.matchResources),
      params: path ? `${namespace}/${params}` : undefined,
      paramsObject: paramsObject && pickSeen(paramsObject, (): true => true),
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
