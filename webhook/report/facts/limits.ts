import type { V1LimitRange, V1LimitRangeItem, V1ResourceQuota } from '@kubernetes/client-node';
import type { ApiClient } from '../../cluster/client.ts';
import type { ApiObject } from '../../cluster/informer/object.ts';
import { type Observation, observe, readList } from './observation.ts';

/** What a LimitRange or a ResourceQuota asks of the containers of a namespace. */
export interface LimitFacts {
  namespace: string | undefined;
  /** Its kind and name. */
  object: string;
  /** Of a LimitRange: its limits of type Container. */
  containers: Pick<V1LimitRangeItem, 'min' | 'max' | 'maxLimitRequestRatio'>[];
  /** Of a ResourceQuota. */
  hard: Record<string, string>;
}

/** Reads all LimitRanges and ResourceQuotas. @throws ClusterError as `observe` */
export const readLimits = (client: ApiClient): Promise<Observation<LimitFacts[]>> =>
  observe(
    Promise.all([readList(client, ranges), readList(client, quotas)]).then((lists) => lists.flat()),
    'LimitRanges and ResourceQuotas',
  );

const ranges = {
  resource: 'limitranges',
  path: '/api/v1/limitranges',
  pick: ({ metadata, spec }: ApiObject & Pick<V1LimitRange, 'spec'>): LimitFacts => ({
    namespace: metadata.namespace,
    object: `LimitRange ${metadata.name}`,
    containers: spec?.limits.filter(({ type }) => type === 'Container') ?? [],
    hard: {},
  }),
};

const quotas = {
  resource: 'resourcequotas',
  path: '/api/v1/resourcequotas',
  pick: ({ metadata, spec }: ApiObject & Pick<V1ResourceQuota, 'spec'>): LimitFacts => ({
    namespace: metadata.namespace,
    object: `ResourceQuota ${metadata.name}`,
    containers: [],
    hard: spec?.hard ?? {},
  }),
};
