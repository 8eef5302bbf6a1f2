/** A network that the pod asks for. */
export interface AskedNetwork {
  /** `namespace/name`, as `network-status` names it. */
  name: string;
  /** The interface that it is to have, if the pod says so. */
  interface?: string;
  /** What Multus calls its interface otherwise. */
  usualInterface: string;
  /** The pod asks for addresses there by itself. */
  asksAddress?: true;
}

/**
 * The networks in `k8s.v1.cni.cncf.io/networks`, which is a comma list `namespace/name@interface` or a JSON list
 * (Multus, `pkg/k8sclient`, `parsePodNetworkAnnotation`), or undefined where it is neither. Multus has made the
 * interfaces by this text already: more than what is needed is not looked at.
 *
 * @param podNamespace an entry without a namespace means this one
 */
export function readNetworks(text: string, podNamespace: string): AskedNetwork[] | undefined {
  const entries = /[[{"]/.test(text) ? fromJson(text) : fromCommaList(text);
  return entries?.map(({ namespace, name, interface: device, asksAddress }, index) => ({
    name: `${namespace || podNamespace}/${name}`,
    ...(device && { interface: device }),
    // by its place in the list, which begins with the cluster's own network: Multus, `getIfname`
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
    // `interfaceRequest` is its name from before Multus 3.2, which Multus still takes
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
  const entries = text.split(',').map((item) => {
    const match = /^(?:([^/@\s]*)\/)?([^/@\s]+)(?:@([^/@\s]*))?$/.exec(item.trim());
    return { namespace: match?.[1], name: match?.[2] ?? '', interface: match?.[3] };
  });
  return entries.every(({ name }) => name !== '') ? entries : undefined;
}
