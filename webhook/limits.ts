const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * How many bytes of JSON one object of the API may have to be read here. What is larger is skipped while it comes, is
 * never parsed, and counts as unknown. Ordinary objects have 2 to 60 KiB. An object in etcd has at most 1.5 MiB
 * (etcd, `--max-request-bytes`), which JSON may write in up to six times as many bytes.
 */
export const objectBytes = {
  /** Nodes, namespaces and pods of a network's DaemonSet: their writers are trusted more than tenants. */
  default: 3 * MiB,
  /** A DaemonSet that a profile names. 55,000 tolerations have 1.4 MB. */
  daemonSet: 256 * KiB,
  /** A pod that waits for a node: any tenant of a namespace that opted in can make it. */
  waitingPod: 256 * KiB,
  /** A pod on a node, of which only the amounts that it asks for are kept. */
  placedPod: 3 * MiB,
  /** One pod that the gate asks for. Every pod that etcd takes fits. */
  lookup: 10 * MiB,
};

/** Bytes of a list without its items: its version and the token of the next page. */
export const listEnvelopeBytes = 64 * KiB;

/** Pods that wait for a node and are kept here. The gate asks the API server for those that are not. */
export const waitingPods = {
  /** Of all namespaces. */
  most: { count: 10_000, bytes: 32 * MiB },
  /** Of one namespace. */
  mostOfNamespace: { count: 5000, bytes: 12 * MiB },
  /** Characters of all that one pod asks of its node. A pod that asks for more is left to the scheduler. */
  askedCharacters: 16 * KiB,
  /** PersistentVolumeClaims of one pod: each costs a question or two. */
  claims: 64,
};

/** Characters of a name that comes from an object: Kubernetes allows 253 for a DNS subdomain. */
export const nameCharacters = 253;

/** What is kept of each pod on a node. */
export const placedPods = {
  /** Characters of its labels, keys and values together. Of a pod with more none are kept. */
  labelCharacters: 16 * KiB,
  /** Names of resources that it asks for. */
  resources: 64,
  /** Bytes of the list of one node's pods. A node with more counts as full. */
  listBytes: 512 * MiB,
  /** So many bytes of such a list cost as much of the rate of questions as one question. */
  bytesOfAQuestion: 4 * MiB,
};

/** Milliseconds between two lists of the pods that wait, where something else than a fault asks for one. */
export const relist = {
  /** A namespace opted in or out: its pods have to be found, or forgotten. */
  afterOptIn: { first: 200, next: 5000 },
  /** Room came for pods that were left out. */
  afterRoom: 30_000,
};
