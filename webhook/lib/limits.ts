/** Limits on what others can send or create. `npm run generate` writes the texts into docs/reference/limits.md. */
import { totalmem } from 'node:os';
import { bytes, count, section, time } from './limit.ts';

const KiB = 1024;
const MiB = 1024 * KiB;

section('Bodies of admission calls');
/** Limits of a request body, in bytes and milliseconds. They are the same on every machine. */
const bodyLimits = {
  /** etcd accepts 1.5 MiB of protobuf (`--max-request-bytes`), which become up to 4.5 MiB of JSON. */
  body: bytes(5 * MiB, 'body of an admission call', '`CNI_GATE_REVIEW_TOO_LARGE`'),
  /** The main thread parses the costliest body of this size in about 10 ms; an ordinary pod has 3 to 20 KiB. */
  smallBody: bytes(64 * KiB, 'largest body that never waits for other bodies'),
  /** Each of these bodies stays in memory until it is answered. */
  largeBodies: count(8, 'bodies above 64 KiB that are read at the same time; further ones wait'),
  /** Exceeds {@link bodyLimits.largeBodyArrival}, so that a place becomes free in time; below `timeoutSeconds`. */
  largeBodyWait: time(3_000, 'time that a body above 64 KiB may wait', '`CNI_GATE_BUSY`, limit `bodies`'),
  /** An API server sends a body without pauses. */
  largeBodyArrival: time(
    2_000,
    'time for a body above 64 KiB to arrive',
    '`CNI_GATE_BUSY`, limit `slow-body`',
  ),
  /** 30,000 tolerations have 270,000 parts. V8 takes up to 50 MiB and 1 s for 300,000 parts of the costliest kind. */
  largeBodyParts: count(
    300_000,
    'lists, objects and strings in a body above 64 KiB',
    '`CNI_GATE_REVIEW_TOO_LARGE`, limit `cost`',
  ),
  /** This time includes the start of the thread. The API server waits equally long (`timeoutSeconds`). */
  largeBodyTime: time(
    10_000,
    'time to decide on a body above 64 KiB',
    '`CNI_GATE_REVIEW_TOO_LARGE`, limit `cost`',
  ),
  /** The thread's heap. If V8 reached it while parsing, the process would end; `largeBodyParts` need less than half. */
  largeBodyHeap: bytes(
    128 * MiB,
    'memory to decide on a body above 64 KiB',
    '`CNI_GATE_REVIEW_TOO_LARGE`, limit `cost`',
  ),
};

/** How many small bodies are read in one turn of the event loop. Together they take less than 0.1 s. */
export const bodiesOfTurn = 8;

section('Connections');
/** Time limits of a connection to the admission port, in milliseconds. */
const connectionLimits = {
  handshakeTimeout: time(5_000, 'time from the start of a connection to the end of its TLS handshake'),
  headersTimeout: time(10_000, 'time from the first byte of a request to the end of its headers'),
  /** The API server sends a request without pauses. */
  requestTimeout: time(15_000, 'time from the first byte of a request to its end'),
  /** The interval at which the server looks for requests that exceed a time limit. */
  timeoutCheck: 1_000,
  /** Go's HTTP client keeps idle connections, used before or not, for 90 s. The server must not close them sooner. */
  keepAliveTimeout: time(95_000, 'idle time of a connection'),
};

/** Limits of the admission server that are the same on every machine, in bytes and milliseconds. */
export const serverLimits = { ...bodyLimits, ...connectionLimits };

/** Go's client sends one request at a time, but may send the next while the end of an answer is still being written. */
export const mostPipelined = count(
  2,
  'unanswered requests of one connection',
  'connection closed, limit `pipelined`',
);
/** How many client addresses with a valid answer are remembered. A control plane has only a few API servers. */
export const knownAddresses = count(256, 'known callers that are remembered');

/** How many TLS handshakes begin in one turn of the event loop. Each takes 0.8 ms (docs/decisions/certificates.md). */
export const handshakesOfTurn = 4;

/** Limits of the port for probes and metrics, in bytes and milliseconds. */
export const opsLimits = {
  /** Enough connections for the kubelet's probes and a few scrapers. */
  connections: count(
    64,
    'connections to the ops port',
    'new connections replace idle ones, limit `ops-connections`',
  ),
  /** No request to this port has a body. */
  body: 1 * KiB,
  requestTimeout: time(
    5_000,
    'time from the start of a connection to the ops port to the end of its request',
  ),
  keepAliveTimeout: time(75_000, 'idle time of a connection to the ops port'),
  metricsAge: time(1_000, 'age up to which scrapes get the same metrics'),
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

section('Repair');
/** Limits of repair that no setting changes (docs/decisions/repair.md). Times are in milliseconds. */
export const repairLimits = {
  /** Each further failure doubles the pause. */
  pause: time(5000, 'pause for a controller after a recreated pod failed again, doubled each time'),
  longestPause: time(600_000, 'longest such pause'),
  /** Other pods of a controller wait at most this long for the verdict of its recreated pod. */
  verdict: 60_000,
  /** Repair stops when recreated pods of more than half of the controllers failed again. */
  breaker: {
    least: count(10, 'controllers with outcomes before repair may stop'),
    within: time(300_000, 'period of these outcomes'),
    /** This count is limited, so that one namespace cannot stop the repair of other namespaces. */
    ofNamespace: count(5, 'failures of one namespace that count'),
    pause: time(300_000, 'stop of repair, and then from one pod that is tried to the next'),
  },
  kinds: count(64, "different requirements of one namespace's pods for which a node is sought, in 5 s"),
};

section('Objects of the cluster');
/**
 * The maximum size of an object that is read. A larger object is skipped while it arrives, and counts as unknown.
 * Ordinary objects have 2 to 60 KiB; V8 parses the costliest object of the maximum size in 60 ms.
 */
export const objectBytes = bytes(512 * KiB, 'JSON of an object');

/** The limit for pods of network DaemonSets, and for pods whose requests are summed: a status may have 700 KB. */
export const trustedObjectBytes = bytes(
  3 * MiB,
  "JSON of a pod of a network's DaemonSet, or of a pod on a node that steering may nominate",
);

/** At most this many bytes of an answer other than 2xx are read. A Kubernetes Status has less than 4 KiB. */
export const refusalBytes = 64 * KiB;

/** The maximum size, in bytes, of a list that is read as a whole: a page of 500 events. */
export const listBytes = 8 * MiB;

/** At most this many entries of one object are kept. The largest network DaemonSets have fewer than ten containers. */
export const listItems = count(64, 'containers, addresses or requested resources of one object');

/** The maximum size, in bytes, of a list's fields beside its items, such as the token of the next page. */
export const listEnvelopeBytes = 64 * KiB;

section('Pods that wait for a node');
/** Pods that wait for a node and are kept in memory. The gate requests other waiting pods from the API server. */
export const pendingPods = {
  max: {
    count: count(10_000, 'waiting pods'),
    bytes: bytes(32 * MiB, 'estimated memory of waiting pods'),
  },
  requiredCharacters: count(16 * KiB, "characters of one pod's scheduling requirements"),
};

/** How many refused pods are remembered. For other pods, the start of the hold is estimated from the pod's status. */
export const heldPods = count(10_000, 'pods whose first refusal is remembered', 'older holds can begin anew');

section('Verdicts of pods');
/** Pods on nodes whose verdicts are kept. Kubernetes supports 150,000 pods. */
export const evidencePods = {
  max: {
    count: count(120_000, 'verdicts, in all namespaces'),
    bytes: bytes(96 * MiB, 'estimated memory of the verdicts'),
  },
  /** At most this many different texts, and lists of texts, are shared in memory by all pods. */
  sharedTexts: 50_000,
  /** Counted in the requirements as JSON, which have about 400 characters for an ordinary pod. */
  requiredCharacters: count(
    4 * KiB,
    "characters of a failed pod's requirements",
    'the pod waits for its own node',
  ),
  /** At most this many different requirements are shared in memory by all failed pods. */
  sharedKinds: 1000,
};

/** Limits of the evidence about profiles on nodes, which is kept after the pods that provided it are gone. */
export const nodeEvidence = {
  /** Two controllers with failed pods are enough to judge a node. New pods of a remembered controller wait longer. */
  owners: count(64, 'controllers with failed pods, for each node and profile'),
  /** Pods can name nodes that do not exist. */
  nodes: count(20_000, 'remembered nodes, for each profile'),
  /** On a node that has to be proved, pods of these controllers may try sooner than other pods. */
  passedOwners: count(20_000, 'controllers with a pod that has passed', 'older ones are forgotten'),
};

/** Users can claim any number of addresses in the annotation `network-status` of their own pods. */
export const duplicatesOfNamespace = count(
  500,
  '[duplicate addresses](errors.md#two-pods-with-one-address), for each namespace and between namespaces',
);

section('Nodes and namespaces');
/** Namespaces that opted in; others are requested from the API server. A namespace with 5 labels takes about 2 KiB. */
export const namespaces = {
  max: {
    count: count(10_000, 'namespaces that opted in'),
    bytes: bytes(16 * MiB, 'estimated memory of these namespaces'),
  },
  each: bytes(
    128 * KiB,
    'labels of a namespace (about 600), and its annotations that profiles read',
    '[`CNI_GATE_CLUSTER_TOO_LARGE`](errors.md#cni_gate_cluster_too_large)',
  ),
};

/** Kubernetes supports 5,000 nodes; a node with 40 labels takes about 9 KiB. The gate allows pods on unknown nodes. */
export const nodes = {
  max: { count: count(15_000, 'nodes'), bytes: bytes(64 * MiB, 'estimated memory of nodes') },
  /** Enough for about 1,200 labels. Node Feature Discovery creates up to 200. */
  each: bytes(256 * KiB, 'labels, taints and resources of one node'),
};

/** The maximum length of a name, UID or keyword in an object or call. Kubernetes allows 253 for a DNS subdomain. */
export const nameCharacters = 253;

section('Free capacity of nodes');
/** Limits of the lists of single nodes' pods, from which free capacity is computed. */
export const placedPods = {
  listBytes: bytes(512 * MiB, "list of one node's pods", 'the node counts as full'),
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

section('Quoted texts');
/** Limits of texts that users and kubelets write: labels, annotations, reasons, conditions. */
export const texts = {
  /** Kubernetes accepts at most 1,024 bytes in the note of an event. */
  quoted: count(512, 'characters of a quoted text', 'cut'),
  /** An object may have 256 KiB of annotations (`TotalAnnotationSizeLimitB`); 100 networks as JSON have 10 KiB. */
  annotation: count(
    64 * KiB,
    'characters of an annotation with a list or JSON, or of a condition',
    'counts as unreadable',
  ),
  quantity: count(256, 'characters of a quantity, such as `250m`', 'counts as unreadable'),
};

section('Requests to the API server');
/**
 * Limits of requests for single objects that no watch has reported. They apply to pods and to namespaces separately.
 * kube-scheduler binds at most 50 pods per second, and 100 at once (`clientConnection` of KubeSchedulerConfiguration).
 */
export const lookups = {
  perSecond: count(100, 'requests a second'),
  burst: count(200, 'requests at once, after a pause'),
  inFlight: count(16, 'requests in flight; further requests wait'),
};

section('Log');
/** Small beside the 512 MiB of a container. Lines beyond this are lost, because a server that waits for them admits nothing. */
export const logBuffer = bytes(4 * MiB, 'log that waits for a slow reader', 'further lines are dropped');

section('Dashboard');
/** Limits of the local server of `cni-gate dashboard`. */
export const dashboardLimits = {
  pause: time(2_000, 'pause between two readings'),
  /** Connections at a time; a browser opens six. */
  connections: 64,
  /** Milliseconds until the headers of a request must have arrived. */
  headersTimeout: 10_000,
};
