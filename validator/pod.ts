import { addressesOf, type Device } from './devices.ts';
import { type Address, type Family, isLinkLocal, parseAddress } from './shared/addresses.ts';
import { env } from './shared/contract.ts';

/** What the program knows about its pod. */
export interface Pod {
  /** `status.podIPs`, the primary address first. */
  addresses: Address[];
  /** `status.hostIPs`. */
  nodeAddresses: Address[];
  /** Families that the pod has, the primary one first. */
  families: Family[];
  namespace: string;
  networks: string;
  networkStatusFile: string | undefined;
  /** The API server's service address, which every container gets. */
  apiServer: string | undefined;
  userId: number;
  groupId: number;
}

type Environment = Record<string, string | undefined>;

/**
 * @param devices called only if the environment does not contain the pod's addresses
 * @param groupId the primary group, which a rule matches
 */
export function readPod(
  environment: Environment,
  userId: number,
  devices: () => Device[],
  groupId = userId,
): Pod {
  const addressesIn = (text = ''): Address[] =>
    text.split(',').flatMap((address) => parseAddress(address.trim()) ?? []);
  const addresses = addressesIn(environment[env.podIPs]);
  const known = addresses.length > 0 ? addresses : addressesOf(devices()).filter((it) => !isLinkLocal(it));
  return {
    addresses,
    nodeAddresses: addressesIn(environment[env.nodeIPs]),
    families: [...new Set(known.map(({ family }) => family))],
    namespace: environment[env.podNamespace] ?? '',
    networks: environment[env.networks] ?? '',
    networkStatusFile: environment[env.networkStatusFile] || undefined,
    apiServer: environment.KUBERNETES_SERVICE_HOST || undefined,
    userId,
    groupId,
  };
}
