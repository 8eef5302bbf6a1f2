/** Limits on what others can send or create. docs/reference/limits.md explains those that a user can meet. */
import { totalmem } from 'node:os';

const KiB = 1024;
const MiB = 1024 * KiB;

/** Limits of a request body, in bytes and milliseconds. They are the same on every machine. */
const bodyLimits = {
  /** etcd accepts 1.5 MiB of protobuf (`--max-request-bytes`), which become up to 4.5 MiB of JSON. */
  body: 5 * MiB,
  /** Larger bodies wait for others. The main thread parses the costliest of this size in 10 ms; a pod has 3 to 20 KiB. */
  smallBody: 64 * KiB,
  /** At most this many larger bodies are read at a time. Each stays in memory until it is answered. */
  largeBodies: 8,
  /** The wait for a place, in which a body that does not arrive frees its place. It is below `timeoutSeconds`. */
  largeBodyWait: 3_000,
  /** The time in which a larger body has to arrive. An API server sends a body without pauses. */
  largeBodyArrival: 2_000,
  /** Lists, objects and strings: 30,000 tolerations have 270,000. V8 takes up to 50 MiB and 1 s for the costliest. */
  largeBodyParts: 300_000,
  /** This time includes the start of the thread. The API server waits equally long (`timeoutSeconds`). */
  largeBodyTime: 10_000,
  /** The thread's heap. If V8 reached it while parsing, the process would end; `largeBodyParts` need less than half. */
  largeBodyHeap: 128 * MiB,
};

/** How many small bodies are read in one turn of the event loop. Together they take less than 0.1 s. */
export const bodiesOfTurn = 8;

/** Time limits of a connection to the admission port, in milliseconds. */
const connectionLimits = {
  /** Of a TLS handshake, since the connection began. */
  handshakeTimeout: 5_000,
  /** Of the headers and of the whole request, from its first byte. The API server sends them without pauses. */
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  /** The interval at which the server looks for requests that exceed a time limit. */
  timeoutCheck: 1_000,
  /** Go's HTTP client keeps idle connections, used before or not, for 90 s. The server must not close them sooner. */
  keepAliveTimeout: 95_000,
};

/** Limits of the admission server that are the same on every machine, in bytes and milliseconds. */
export const serverLimits = { ...bodyLimits, ...connectionLimits };

/** Go's client sends one request at a time, but may send the next while the end of an answer is still being written. */
export const mostPipelined = 2;
/** How many client addresses with a valid answer are remembered. A control plane has only a few API servers. */
export const knownAddresses = 256;

/** How many TLS handshakes begin in one turn of the event loop. Each takes 0.8 ms (docs/decisions/certificates.md). */
export const handshakesOfTurn = 4;

/** Limits of the port for probes and metrics, in bytes and milliseconds. */
export const opsLimits = {
  /** Enough connections for the kubelet's probes and a few scrapers. */
  connections: 64,
  /** No request to this port has a body. */
  body: 1 * KiB,
  /** Since the connection began. */
  requestTimeout: 5_000,
  keepAliveTimeout: 75_000,
  /** For this time, scrapes get the same metrics. */
  metricsAge: 1_000,
};

/** How many connections the admission server keeps. An idle connection costs about 50 KiB. @param memory in bytes */
export const mostConnections = (memory = availableMemory()): number =>
  Math.min(Math.max(Math.floor(memory / (512 * KiB)), 128), 4096);

/** Bytes of memory for this process: the limit of its control group, or the machine's memory if there is no limit. */
function availableMemory(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** Limits of the search for nodes to nominate. To compare a pod with a node takes about a microsecond. */
export const planLimits = {
  /** Comparisons per second, over all namespaces. They take about a tenth of one core's time. */
  perSecond: 60_000,
  /** Comparisons that may be made at once after a pause. */
  burst: 120_000,
  /** Nominations per second. Each nomination is charged `perSecond / nominations` comparisons. */
  nominations: 25,
  /** After this many comparisons, the search yields to admission calls and to the renewal of the Lease. */
  slice: 500,
  /** A pod's node selector entries, expressions, tolerations and resources together. Ordinary pods have under 20. */
  terms: 100,
} as const;

/** Limits of repair that no setting changes (docs/decisions/repair.md). Times are in milliseconds. */
export const repairLimits = {
  /** The pause for a controller after its recreated pod failed again. Each further failure doubles the pause. */
  pause: 5000,
  longestPause: 600_000,
  /** Other pods of a controller wait at most this long for the verdict of its recreated pod. */
  verdict: 60_000,
  /** Repair stops when recreated pods of more than half of the controllers failed again. */
  breaker: {
    /** At least this many controllers must have outcomes within the period before repair stops. */
    least: 10,
    within: 300_000,
    /** At most this many failures of a namespace count, so that it cannot stop the repair of other namespaces. */
    ofNamespace: 5,
    /** Until the first pod is tried again, and between two such pods. */
    pause: 300_000,
  },
  /** For this many different requirements of one namespace's pods, a node is sought every 5 s. */
  kinds: 64,
};

/**
 * The maximum size of an object that is read. A larger object is skipped while it arrives, and counts as unknown.
 * Ordinary objects have 2 to 60 KiB; V8 parses the costliest object of the maximum size in 60 ms.
 */
export const objectBytes = 512 * KiB;

/** The limit for pods of network DaemonSets, and for pods whose requests are summed: a status may have 700 KB. */
export const trustedObjectBytes = 3 * MiB;

/** At most this many bytes of an answer other than 2xx are read. A Kubernetes Status has less than 4 KiB. */
export const refusalBytes = 64 * KiB;

/** The maximum size, in bytes, of a list that is read as a whole: a page of 500 events. */
export const listBytes = 8 * MiB;

/** At most this many entries of one object are kept. The largest network DaemonSets have fewer than ten containers. */
export const listItems = 64;

/** The maximum size, in bytes, of a list's fields beside its items, such as the token of the next page. */
export const listEnvelopeBytes = 64 * KiB;

/** Pods that wait for a node, and their estimated memory. The gate requests other pods from the API server. */
export const pendingPods = {
  max: { count: 10_000, bytes: 32 * MiB },
  /** Characters of one pod's scheduling requirements. */
  requiredCharacters: 16 * KiB,
};

/** How many refused pods are remembered. For other pods, the start of the hold is estimated from the pod's status. */
export const heldPods = 10_000;

/** Pods on nodes whose verdicts are kept. Kubernetes supports 150,000 pods. */
export const evidencePods = {
  max: { count: 120_000, bytes: 96 * MiB },
  /** At most this many different texts, and lists of texts, are shared in memory by all pods. */
  sharedTexts: 50_000,
  /** Characters of a failed pod's requirements as JSON, which have about 400 characters for an ordinary pod. */
  requiredCharacters: 4 * KiB,
  /** At most this many different requirements are shared in memory by all failed pods. */
  sharedKinds: 1000,
};

/** Limits of the evidence about profiles on nodes, which is kept after the pods that provided it are gone. */
export const nodeEvidence = {
  /** Controllers with failed pods, for each node and profile. Two are enough to judge a node. */
  owners: 64,
  /** For each profile. Pods can name nodes that do not exist. */
  nodes: 20_000,
  /** On a node that has to be proved, pods of these controllers may try sooner than other pods. */
  passedOwners: 20_000,
};

/** Duplicate addresses for each namespace: users can claim any addresses in the annotation `network-status`. */
export const duplicatesOfNamespace = 500;

/** Namespaces that opted in; others are requested from the API server. A namespace with 5 labels takes about 2 KiB. */
export const namespaces = { max: { count: 10_000, bytes: 16 * MiB } };

/** Kubernetes supports 5,000 nodes; a node with 40 labels takes about 9 KiB. The gate allows pods on unknown nodes. */
export const nodes = { max: { count: 15_000, bytes: 64 * MiB } };

/** The maximum length of a name, UID or keyword in an object or call. Kubernetes allows 253 for a DNS subdomain. */
export const nameCharacters = 253;

/** Limits of the lists of single nodes' pods, from which free capacity is computed. */
export const placedPods = {
  /** A node with a longer list counts as full. */
  listBytes: 512 * MiB,
  /** Every 4 MiB of a list count as one more request against the rate below. */
  bytesOfAQuestion: 4 * MiB,
  /** Lists per second; after a pause, `burst` lists at once. */
  perSecond: 10,
  burst: 20,
};

/** Events per second, at once after a pause, and in parallel. Nominations matter more, so they have a higher rate. */
export const eventLimits = { perSecond: 10, burst: 50, inParallel: 5 } as const;

/** Milliseconds until pods are listed after a namespace opted in or out (`first`), and between such lists (`next`). */
export const relist = { first: 200, next: 5000 };

/** Limits of texts that users and kubelets write: labels, annotations, reasons, conditions. */
export const texts = {
  /** Characters; a longer text is cut. Kubernetes accepts at most 1,024 bytes in the note of an event. */
  quoted: 512,
  /** A longer list, JSON or condition is not read. 100 networks as JSON have 10 KiB. */
  annotation: 64 * KiB,
  /** Characters of a quantity, such as `250m`. */
  quantity: 256,
};

/**
 * Limits of requests for single objects that no watch has reported. They apply to pods and to namespaces separately.
 * kube-scheduler binds at most 50 pods per second, and 100 at once (`clientConnection` of KubeSchedulerConfiguration).
 */
export const lookups = {
  perSecond: 100,
  burst: 200,
  /** Requests in flight; further requests wait. */
  inFlight: 16,
};

/** Bytes of log for a slow reader. Further lines are lost, because a server that waits for the reader admits nothing. */
export const logBuffer = 4 * MiB;

/** Limits of the local server of `cni-gate dashboard`. */
export const dashboardLimits = {
  /** Milliseconds between two readings. */
  pause: 2_000,
  /** Connections at a time; a browser opens six. */
  connections: 64,
  /** Milliseconds until the headers of a request must have arrived. */
  headersTimeout: 10_000,
};
