import type { ApiClient } from '../kubernetes/client.ts';
import { configurationsPath } from '../kubernetes/webhook-configurations.ts';
import type { ConfigurationName, ServiceName } from './configurations.ts';

interface List {
  items: {
    metadata: { name: string };
    webhooks?: { clientConfig: { service?: ServiceName | null } }[] | null;
  }[];
}

/**
 * The webhook configurations of a cluster in which anything calls a Service.
 *
 * @throws CniGateError where they may not be listed
 */
export async function configurationsCalling(
  client: ApiClient,
  service: ServiceName,
): Promise<ConfigurationName[]> {
  const kinds = ['mutating', 'validating'] as const;
  const found = await Promise.all(
    kinds.map(async (kind) => {
      const { items } = await client.request<List>('GET', configurationsPath(kind));
      return items
        .filter(({ webhooks }) =>
          webhooks?.some(({ clientConfig: { service: called } }) => {
            return called?.namespace === service.namespace && called.name === service.name;
          }),
        )
        .map(({ metadata: { name } }): ConfigurationName => ({ kind, name }));
    }),
  );
  return found.flat();
}
