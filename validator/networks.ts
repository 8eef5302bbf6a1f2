/** A network that the pod requests. */
export interface AskedNetwork {
  /** `namespace/name`, as `network-status` names it. */
  name: string;
  /** The interface name that the pod requests, if any. */
  interface?: string;
  /** The name that Multus uses otherwise. */
  usualInterface: string;
  /** The pod requests addresses on it. */
  asksAddress?: true;
}

/** The most networks that are checked. Of thousands, reading alone would take longer than the check may. */
const mostNetworks = 100;

/**
 * The networks in `k8s.v1.cni.cncf.io/networks`, which is a comma list `namespace/name@interface` or a JSON list
 * (Multus, `pkg/k8sclient`, `parsePodNetworkAnnotation`), or undefined if it is neither, or names too many. Multus has already created the
 * interfaces from this text, so only the needed fields are read.
 *
 * @param podNamespace the namespace of entries that name none
 */
export function readNetworks(text: string, podNamespace: string): AskedNetwork[] | undefined {
  const entries = /[[{"]/.test(text) ? fromJson(text) : fromCommaList(text);
  if (entries && entries.length > mostNetworks) return undefined;
  return entries?.map(({ namespace, name, interface: device, asksAddress }, index) => ({
    name: `${namespace || podNamespace}/${name}`,
    ...(device && { interface: device }),
    // by its position in the list, in which the cluster's own network is the first: Multus, `getIfname`
    usualInterface: `net${index + 1}`,
    ...(asksAddress && { asksAddress: true }),
  }));
}

interface Entry {
  namespace?: string | undefined;
  name: string;
  interface?: string | undefined;
  asksAddress?: boolean;
}

function fromJson(text: string): Entry[] | undefined {
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list) || !list.every((item) => typeof item?.name === 'string')) return undefined;
    // Multus before 3.2 called it `interfaceRequest`, which Multus still accepts
    return list.map(({ namespace, name, interface: device, interfaceRequest, ips }) => ({
      namespace,
      name,
      interface: device || interfaceRequest,
      asksAddress: Array.isArray(ips) && ips.length > 0,
    }));
  } catch {
    return undefined;
  }
}

function fromCommaList(text: string): Entry[] | undefined {
  if (text.trim() === '') return [];
  const items = text.split(',');
  if (items.length > mostNetworks) return undefined;
  const entries = items.map((item) => {
    const match = /^(?:([^/@\s]*)\/)?([^/@\s]+)(?:@([^/@\s]*))?$/.exec(item.trim());
    return { namespace: match?.[1], name: match?.[2] ?? '', interface: match?.[3] };
  });
  return entries.every(({ name }) => name !== '') ? entries : undefined;
}
