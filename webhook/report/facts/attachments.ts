import type { ApiClient } from '../../cluster/client.ts';
import type { ApiObject } from '../../cluster/informer/object.ts';
import { nameOf } from '../../lib/names.ts';
import { type Observation, observe, readList } from './observation.ts';

/** A network of Multus: its name, and whether `network-status` can list it. */
export type Attachment = ReturnType<typeof attachmentOf>;

/** Reads the networks of Multus; absent where it is not installed. @throws ClusterError as `observe` */
export const readAttachments = (client: ApiClient): Promise<Observation<Attachment[]>> =>
  observe(readList(client, source), 'NetworkAttachmentDefinitions');

const source = {
  resource: 'network-attachment-definitions',
  path: '/apis/k8s.cni.cncf.io/v1/network-attachment-definitions',
  pick: attachmentOf,
};

/**
 * Multus writes no entry for a network whose CNI configuration has no `cniVersion`, or 0.2.0 or older: its result names
 * no interfaces (CNI specification 0.3.0; tried with Multus 4). A definition without a configuration has it in a file on
 * the nodes.
 */
function attachmentOf({ metadata, spec }: ApiObject & { spec?: { config?: string } }) {
  const version = spec?.config ? versionIn(spec.config) : undefined;
  return {
    name: nameOf(metadata),
    isListed: version === undefined || !/^(0\.[12]\.|$)/.test(version),
  };
}

/** Undefined if it is not JSON: no pod with it starts. */
function versionIn(config: string): string | undefined {
  try {
    return String(JSON.parse(config).cniVersion ?? '');
  } catch {
    return undefined;
  }
}
