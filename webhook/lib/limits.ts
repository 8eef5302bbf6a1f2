/**
 * What others can send or create is bounded before it is kept or computed on. Every such limit stands here with its
 * unit and its reason; docs/reference/limits.md is for people who meet one.
 */
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

const KiB = 1024;
const MiB = 1024 * KiB;

/** Limits of the admission server that are the same on every machine. Bytes and milliseconds. */
export const serverLimits = {
  /**
   * The largest body, by path. The API server takes objects of at most 3 MiB
   * (`MaxRequestBodyBytes`, staging/src/k8s.io/apiserver/pkg/server/config.go).
   */
  body: {
    /** The pod, which JSON may write longer than the client did: `<` becomes six bytes. */
    mutate: 7 * MiB,
    /** A Binding has about 1 KiB, a pod that is created with `spec.nodeName` up to 3 MiB. No call has an old object. */
    gate: 4 * MiB,
    /** Object and old object, with at most 256 KiB of annotations each. */
    namespaces: 1 * MiB,
  },
  /** Levels of lists and objects in a body. A pod has about 15, its `managedFields` as many again. */
  depth: 256,
  /** Bytes of a body, or of what it becomes, that may use the part of a budget which large ones have to leave free. */
  smallBody: 1 * MiB,
  /** Milliseconds of one turn of the event loop after which no more bodies are parsed and answered in it. */
  turn: 10,
  /** How long a body waits for room before the call is answered with 429. Well below `timeoutSeconds`. */
  memoryWait: 2_000,
  /** A body that has not arrived whole after this time loses its room, if others wait for room. */
  slowBody: 1_000,
  /** From the first byte of a request to the end of its headers. */
  headersTimeout: 10_000,
  /** From the first byte of a request to the last of its body. The API server sends a request at once. */
  requestTimeout: 15_000,
  handshakeTimeout: 5_000,
  /** How often these times are compared with the clock. */
  timeoutCheck: 1_000,
  /** Go's HTTP client keeps idle connections, used before or not, for 90 s: the server must not close them first. */
  keepAliveTimeout: 95_000,
  /** No answer takes longer: the API server waits at most 30 s. A client that does not read it can lose its connection. */
  answerTimeout: 35_000,
} as const;

/**
 * What a body may have that takes V8 long to parse for its size. Within these, the costliest body takes about 0.1 s on
 * one core, from its text to the answer.
 */
export const jsonShape = {
  /** Bytes of a body that is not looked at for this: whatever it is, it takes a few milliseconds. */
  small: 64 * KiB,
  /**
   * Different beginnings of objects: a key after the same keys before it counts once. A pod has about 100, and one for
   * each label and annotation, once more for each in `managedFields`.
   */
  shapes: 16_384,
  /** Strings, keys among them. A pod of 1.5 MiB, which is the most that etcd takes, has up to 200,000. */
  strings: 262_144,
} as const;

/** What is read of a request that was refused, and thrown away, before it is answered: bytes and milliseconds. */
export const unreadBody = { bytes: 16 * MiB, time: 2_000 } as const;

/**
 * Requests of one connection that have no answer yet. The API server, the kubelet and Prometheus have one; the next may
 * come while the end of an answer is still being written.
 */
export const mostPipelined = 2;

/** New connections of a port without TLS that are taken up in one turn of the event loop. */
export const connectionsPerTurn = 8;

/**
 * TLS handshakes, for known callers and for strangers each: a handshake takes 0.8 ms of CPU time, 1.1 ms with an RSA
 * key (docs/decisions/certificates-that-replicas-share.md), and a client may have all its connections begin at once.
 */
export const handshakes = {
  /** Handshakes that begin in one turn of the event loop. */
  perTurn: 4,
  /** Handshakes in progress. All of them may go on in the same turn. */
  atATime: 32,
  /** A handshake that takes longer, in milliseconds, is closed while others wait. */
  slow: 1_000,
  /** How often slow ones are looked for. */
  slowCheck: 100,
  /** Bytes that a client may send before its turn comes. A ClientHello has up to 2 KiB. */
  helloBytes: 16 * KiB,
} as const;

/** Addresses from which a valid review came, and which therefore keep some connections while others open many. */
export const knownCallers = {
  /** How many are remembered. A control plane has a few API servers. */
  addresses: 256,
  /** For how long, in milliseconds from the last answer. */
  remember: 600_000,
  /**
   * Connections of such an address that are closed last at the bound. Go keeps up to 25 idle ones
   * (`MaxIdleConnsPerHost` in staging/src/k8s.io/client-go/transport/cache.go).
   */
  share: 32,
} as const;

/** Limits of the port for probes and metrics. Bytes and milliseconds. */
export const opsLimits = {
  /** The kubelet's probes and a few scrapers. */
  connections: 64,
  /** No request to this port has a body. */
  body: 1 * KiB,
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  keepAliveTimeout: 75_000,
  answerTimeout: 10_000,
  /** Metrics are collected at most once in this time; scrapes in between get the same text. */
  metricsAge: 1_000,
} as const;

/** Limits of the admission server that follow the memory of its container. */
export interface MemoryLimits {
  /** Connections, in or after their TLS handshake. */
  connections: number;
  /** Bytes of all bodies that arrive or wait to be parsed. */
  texts: number;
  /** Bytes of heap for all parsed bodies that are not answered yet, as estimated before they are parsed. */
  parsed: number;
}

/**
 * @param memory bytes that the container may use
 * @param heap bytes that V8 may use of them for its heap
 */
export function limitsFor(memory: number, heap: number): MemoryLimits {
  return {
    // an idle TLS connection costs about 50 KiB
    connections: Math.min(Math.max(Math.floor(memory / (512 * KiB)), 128), 4096),
    texts: Math.min(Math.max(memory / 16, 2 * serverLimits.body.mutate), 256 * MiB),
    parsed: Math.min(Math.max(heap / 8, 16 * MiB), 512 * MiB),
  };
}

/** The limits for this process: those of its control group, or of the machine where it is in none with a limit. */
export function memoryLimits(): MemoryLimits {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return limitsFor(memory, getHeapStatistics().heap_size_limit);
}

/**
 * What bounds the planning of nominations. The unit of work is a step: about one comparison with a node or a pod, some
 * 20 to 100 nanoseconds.
 */
export const planLimits = {
  /**
   * Steps in one round, over all namespaces: about 0.1 s of CPU time, in slices. A thousand pods that no node suits
   * take one round on 1,000 nodes. What is left over goes on in the next round.
   */
  roundSteps: 1_000_000,
  /** Steps after which a slice ends, and admission calls and the renewal of the Lease have their turn. */
  sliceSteps: 50_000,
  /** The same by the clock, in milliseconds, for machines that are slow or throttled. */
  sliceTime: 5,
  /**
   * Terms of a pod's requirements: node selector entries, expressions, tolerations and resources. More make the pod
   * `too-large`, and it is left to the scheduler. Pods as people write them have fewer than 20; a list of values is one
   * term.
   */
  terms: 100,
  /** The longest rest after a round, in milliseconds: pods of others that were refused meanwhile wait for it. */
  longestRest: 5000,
} as const;

/**
 * What bounds repair, whatever is configured: see docs/decisions/when-a-pod-is-recreated.md. Times are milliseconds.
 */
export const repairLimits = {
  /** The pause after a recreated pod failed again. Each further one doubles it. */
  pause: 5000,
  longestPause: 600_000,
  /**
   * A second pod of a controller follows the first after this time without a verdict, while none is known to have failed
   * again. A proof that passes has mostly done so by then. One that began a moment before its network came back fails
   * only after its time-out, and the others need not wait for that.
   */
  second: 5000,
  /**
   * Recreations of pods of one controller with no success since, while another node is ready for them: what does not
   * help three times does not help a fourth time. Where no other node is ready, the pauses alone limit them.
   */
  fruitless: { count: 3, within: 600_000 },
  /** After a success, all pods of the controller are recreated as fast as the budgets allow, for so long. */
  trust: 60_000,
  /** A verdict that takes longer than this no longer keeps other pods waiting. */
  verdict: 60_000,
  /** A verdict is no longer expected after this time. */
  lateVerdict: 600_000,
  /** Repair stops when more than half of the last recreated pods failed again. */
  breaker: {
    /** The least number of verdicts that it takes. */
    least: 10,
    /** Verdicts older than this do not count. */
    within: 600_000,
    /** Verdicts of one namespace that count for the whole cluster. One namespace cannot stop repair for all others. */
    ofNamespace: 5,
    /** When one pod is recreated to find out. Each failure doubles it. */
    pause: 60_000,
    longestPause: 600_000,
  },
  /** Pods that are compared in one plan, of each namespace and in total: the oldest. */
  candidates: 1024,
  /** Namespaces and controllers whose last failure is remembered. */
  lastFailures: 4096,
  /** Pods that were released before and are deleted in one round: of one namespace, and of how many namespaces. */
  released: { ofNamespace: 5, namespaces: 10 },
  /** Different requirements of one namespace's failed pods for which a plan looks for another node. */
  kinds: 64,
} as const;

/**
 * How many bytes of JSON one object of the API may have to be read here. What is larger is skipped while it comes, is
 * never parsed, and counts as unknown. Ordinary objects have 2 to 60 KiB. An object in etcd has at most 1.5 MiB
 * (etcd, `--max-request-bytes`), which JSON may write in up to six times as many bytes.
 */
export const objectBytes = {
  /** Pods of a network's DaemonSet and all that has no entry of its own: their writers are trusted more than tenants. */
  default: 3 * MiB,
  /**
   * A Node: its kubelet may give it any labels, and writes its status. Ordinary ones have 10 to 60 KiB, with 50 images
   * and 256 KiB of annotations at most 350 KiB.
   */
  node: 512 * KiB,
  /** A Namespace that opted in: who may label it may do so without bound. Annotations have at most 256 KiB. */
  namespace: 512 * KiB,
  /** A DaemonSet that a profile names. 55,000 tolerations have 1.4 MB. */
  daemonSet: 256 * KiB,
  /** A pod that waits for a node: any tenant of a namespace that opted in can make it. */
  pendingPod: 256 * KiB,
  /** A pod on a node that carries our label: any tenant of a namespace that opted in can make it. */
  evidencePod: 256 * KiB,
  /** A pod on a node, of which only the amounts that it asks for are kept. */
  placedPod: 3 * MiB,
  /** One pod that the gate asks for. Every pod that etcd takes fits. */
  lookup: 10 * MiB,
};

/** Milliseconds of one turn of the event loop after which no more of a list or a watch is read in it. */
export const streamTurn = 10;

/** Bytes of a list without its items: its version and the token of the next page. */
export const listEnvelopeBytes = 64 * KiB;

/** Bytes that all lists which have not ended yet may take, as estimated: half of V8's heap. */
export const unfinishedLists = getHeapStatistics().heap_size_limit / 2;

/** Pages of lists. Ordinary ones of 500 nodes have 5 to 30 MiB. */
export const pages = {
  /** Bytes of a page. 15,000 nodes in one page have less. */
  bytes: 1024 * MiB,
  /** Bytes of each that are read at once. */
  beginning: MiB,
  /** Pages with more that are read to their end at a time: what has come of the others takes memory meanwhile. */
  largeAtATime: 2,
} as const;

/** Pods that wait for a node and are kept here. The gate asks the API server for those that are not. */
export const pendingPods = {
  /** Of all namespaces. */
  max: { count: 10_000, bytes: 32 * MiB },
  /** Of one namespace. */
  mostOfNamespace: { count: 5000, bytes: 12 * MiB },
  /** Characters of the requirements of one pod. A pod with more is left to the scheduler. */
  requiredCharacters: 16 * KiB,
};

/**
 * Pods on nodes that carry our label, of which the verdict is kept. Kubernetes supports 150,000 pods; who has more pods
 * with the label than this has the gate and repair go by the others.
 */
export const evidencePods = {
  /** Of all namespaces. */
  max: { count: 120_000, bytes: 96 * MiB },
  /** Of one namespace: nobody can take the place of all others. */
  mostOfNamespace: { count: 60_000, bytes: 48 * MiB },
  /** Pods in a page of a list: the API server keeps a whole page in memory. */
  pageSize: 100,
  /** Characters of a reason or name in the text that says what a pod waits for. */
  waitingCharacters: 63,
  /** Addresses of one pod, in all of its networks. */
  addresses: 32,
  /** Different texts that are kept once for all pods, of each kind. */
  sharedTexts: 50_000,
  /**
   * Characters of what a failed pod requires of a node, as JSON. For a pod with more, no other node is looked for. Pods
   * as people write them have about 400.
   */
  requiredCharacters: 4 * KiB,
  /** Different requirements that are kept once for all failed pods. */
  sharedKinds: 1000,
} as const;

/** What is remembered of each profile on each node, longer than the pods that showed it live. */
export const nodeEvidence = {
  /** Owners whose pods failed since the last pass: two are enough for a judgement. */
  owners: 8,
  /** Nodes and profiles of which something is remembered. A node has one entry for each profile of its pods. */
  entries: 50_000,
  /** Nodes and profiles for which a pod was let through a moment ago. */
  trials: 10_000,
  /** Owners that failed where others passed afterwards, and whose failures do not count until they pass. */
  refuted: 10_000,
} as const;

/**
 * Duplicate addresses that are followed, of pods of each namespace, and of pods of different namespaces: users can claim
 * any number by `network-status` of their own pods.
 */
export const duplicatesOfNamespace = 500;

/**
 * Namespaces that opted in and are kept here. The API server is asked about those that are not. Kubernetes supports
 * 10,000 namespaces; one with 5 labels takes about 2 KiB.
 */
export const namespaces = {
  max: { count: 10_000, bytes: 16 * MiB },
  /** Bytes of one, as they are reckoned: about 600 labels. Pods of a namespace with more are refused. */
  bytes: 128 * KiB,
};

/**
 * Nodes that are kept here. The gate lets pods through to those that are not. Kubernetes supports 5,000 nodes; one with
 * 40 labels takes about 9 KiB.
 */
export const nodes = {
  max: { count: 15_000, bytes: 64 * MiB },
  /** Bytes of one, as they are reckoned: about 1,200 labels. Feature discovery makes up to 200. */
  bytes: 256 * KiB,
};

/** Characters of a name that comes from an object: Kubernetes allows 253 for a DNS subdomain. */
export const nameCharacters = 253;

/** What is kept of each pod on a node. */
export const placedPods = {
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
  afterFree: 30_000,
};

/** Texts that others write: labels, annotations, a kubelet's reasons, conditions. */
export const texts = {
  /**
   * Characters of a text that is quoted in a message, a log line or a status. Kubernetes cuts event notes at 1,024
   * bytes and a person reads two lines.
   */
  quoted: 512,
  /**
   * Characters of a pod's `PodScheduled` condition that are searched for our refusal. The scheduler writes about 1,000;
   * who may write conditions may write a megabyte.
   */
  condition: 8192,
  /**
   * Characters of an annotation that is read as a list or as JSON, and of our container's variable. Kubernetes takes 256 KiB for all of an object
   * (`TotalAnnotationSizeLimitB`), after the webhooks; 100 networks as JSON have about 10 KiB.
   */
  annotation: 64 * KiB,
  /** Characters of a quantity, such as `250m`. */
  quantity: 256,
  /** Levels of nested objects and lists in a value that is quoted as JSON. */
  shownDepth: 16,
} as const;

/** What is kept of the status of a DaemonSet's pod, which its kubelet writes. */
export const agentStatus = {
  /** Containers; the largest network DaemonSets have fewer than ten. */
  containers: 64,
  /** Characters of a container's ID: the runtime's name and a hash of 64 characters in practice. */
  containerId: 256,
} as const;

/** What a call of `/mutate`, `/gate` or `/namespaces` may name. Longer is no value of Kubernetes'. */
export const reviews = {
  /** Characters of a UID: the API server makes them of 36. */
  uid: 128,
  /** Characters of an operation or a subresource: Kubernetes' own have at most 19. */
  word: 63,
} as const;

/**
 * Questions to the API server for single objects that no watch has told of: for pods and for namespaces each, so that a
 * flood of one kind does not use up the other. kube-scheduler binds 50 pods a second at most, and 100 at once
 * (`clientConnection` of KubeSchedulerConfiguration), and only pods that are not known cost a question.
 */
export const lookups = {
  /** Questions a second. */
  perSecond: 100,
  /** Questions at once after a rest. */
  burst: 200,
  /** Questions without an answer yet. One caller alone can have four fifths, which is one such burst. */
  atATime: 128,
  /** Bytes of an answer that are read at once. Ordinary pods have 2 to 60 KiB. */
  beginning: 128 * KiB,
  /** Answers with more that are read to their end at a time: a pod of a tenant's may have megabytes. */
  largeAtATime: 2,
} as const;

/** What the local page of `cni-gate dashboard` keeps and shows. */
export const dashboardLimits = {
  /** Rows of each list of pods that are sent to the page; it shows how many there are. */
  rows: 1_000,
  /** Milliseconds for which proofs are counted by the minute. */
  proofs: 24 * 60 * 60_000,
  /** Pods of which the page shows what repair said. */
  repairs: 200,
  /** Milliseconds for which pages share one look at what the watches know. */
  age: 1_000,
  /** Connections at a time; a browser opens six. */
  connections: 64,
  /** Milliseconds until the headers of a request are there. */
  headersTimeout: 10_000,
} as const;
