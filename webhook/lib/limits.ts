/** Bounds of what others can send or create. `npm run generate` writes the texts into docs/reference/limits.md. */
import { totalmem } from 'node:os';
import { bytes, count, section, time } from './limit.ts';

const KiB = 1024;
const MiB = 1024 * KiB;

section('Bodies of admission calls');
/** Limits of a body, which are the same on every machine. Bytes and milliseconds. */
const bodyLimits = {
  /** etcd takes 1.5 MiB of protobuf (`--max-request-bytes`), which are up to 4.5 MiB of JSON. */
  body: bytes(5 * MiB, 'body of an admission call', '`CNI_GATE_REVIEW_TOO_LARGE`'),
  /** The main thread parses the costliest one in about 10 ms; an ordinary pod has 3 to 20 KiB. */
  smallBody: bytes(64 * KiB, 'body that never waits for other bodies'),
  /** Each keeps its bytes in memory until its answer. */
  largeBodies: count(8, 'bodies above 64 KiB that are read at a time; further ones wait'),
  /** Longer than {@link bodyLimits.largeBodyArrival}, so that an API server finds a place. Below `timeoutSeconds`. */
  largeBodyWait: time(3_000, 'time that a body above 64 KiB may wait', '`CNI_GATE_BUSY`, limit `bodies`'),
  /** An API server sends its body at once. */
  largeBodyArrival: time(
    2_000,
    'time for a body above 64 KiB to arrive',
    '`CNI_GATE_BUSY`, limit `slow-body`',
  ),
  /** 30,000 tolerations have 270,000. V8 takes up to 50 MiB and 1 s for as many of the costliest kind. */
  largeBodyParts: count(
    300_000,
    'lists, objects and strings in a body above 64 KiB',
    '`CNI_GATE_REVIEW_TOO_LARGE`, limit `cost`',
  ),
  /** With the start of the thread. The API server waits as long (`timeoutSeconds`). */
  largeBodyTime: time(
    10_000,
    'time to decide on a body above 64 KiB',
    '`CNI_GATE_REVIEW_TOO_LARGE`, limit `cost`',
  ),
  /** The thread's heap. To reach it while V8 parses would end the process; `largeBodyParts` take less than half. */
  largeBodyHeap: bytes(
    128 * MiB,
    'memory to decide on a body above 64 KiB',
    '`CNI_GATE_REVIEW_TOO_LARGE`, limit `cost`',
  ),
};

/** Small bodies that are read in one turn of the event loop: together they take less than 0.1 s. */
export const bodiesOfTurn = 8;

section('Connections');
/** Times of a connection to the admission port. Milliseconds. */
const connectionLimits = {
  handshakeTimeout: time(5_000, 'TLS handshake, since the connection began'),
  headersTimeout: time(10_000, 'headers of a request, from its first byte'),
  /** The API server sends a request at once. */
  requestTimeout: time(15_000, 'whole request, from its first byte'),
  /** How often these times are compared with the clock. */
  timeoutCheck: 1_000,
  /** Go's HTTP client keeps idle connections, used before or not, for 90 s: the server must not close them first. */
  keepAliveTimeout: time(95_000, 'idle time of a connection'),
};

/** Limits of the admission server that are the same on every machine. Bytes and milliseconds. */
export const serverLimits = { ...bodyLimits, ...connectionLimits };

/** Clients have one; the next may come while the end of an answer is still being written. */
export const mostPipelined = count(
  2,
  'unanswered requests of one connection',
  'connection closed, limit `pipelined`',
);
/** A control plane has a few API servers. */
export const knownAddresses = count(256, 'remembered known callers');

/** TLS handshakes that begin in one turn of the event loop: each takes 0.8 ms of CPU time (docs/decisions/certificates.md). */
export const handshakesOfTurn = 4;

/** Limits of the port for probes and metrics. Bytes and milliseconds. */
export const opsLimits = {
  /** The kubelet's probes and a few scrapers. */
  connections: count(
    64,
    'connections to the ops port',
    'new connections replace idle ones, limit `ops-connections`',
  ),
  /** No request to this port has a body. */
  body: 1 * KiB,
  requestTimeout: time(5_000, 'request to the ops port, since the connection began'),
  keepAliveTimeout: time(75_000, 'idle time of a connection to the ops port'),
  metricsAge: time(1_000, 'time in which scrapes get the same metrics'),
};

/** The most connections of the admission server. An idle one costs about 50 KiB. @param memory bytes for the container */
export const mostConnections = (memory = availableMemory()): number =>
  Math.min(Math.max(Math.floor(memory / (512 * KiB)), 128), 4096);

/** Bytes for this process: those of its control group, or of the machine where it is in none with a limit. */
function availableMemory(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** The search for nodes to nominate. The comparison of a pod with a node takes about a microsecond. */
export const planLimits = {
  /** Comparisons a second, over all namespaces: about a tenth of the time of one core. */
  perSecond: 60_000,
  /** Comparisons at once after a pause. */
  burst: 120_000,
  /** Nominations a second: each takes its part of the comparisons. */
  nominations: 25,
  /** Comparisons after which admission calls and the renewal of the Lease have their turn. */
  slice: 500,
  /** Node selector entries, expressions, tolerations and resources of a pod. Pods as people write them have under 20. */
  terms: 100,
} as const;

section('Repair');
/** Repair, whatever is configured (docs/decisions/repair.md). Milliseconds. */
export const repairLimits = {
  /** Each further failure doubles it. */
  pause: time(5000, 'pause for a controller after a recreated pod failed again, doubled each time'),
  longestPause: time(600_000, 'longest such pause'),
  /** A verdict that takes longer than this no longer keeps other pods waiting. */
  verdict: 60_000,
  /** Repair stops when recreated pods of more than half of the controllers failed again. */
  breaker: {
    least: count(10, 'controllers with outcomes before repair may stop'),
    within: time(300_000, 'period of these outcomes'),
    /** One namespace cannot stop the repair of others. */
    ofNamespace: count(5, 'failures of one namespace that count'),
    pause: time(300_000, 'stop of repair, and then from one pod that is tried to the next'),
  },
  kinds: count(64, "different requirements of one namespace's pods for which a node is sought, in 5 s"),
};

section('Objects of the cluster');
/**
 * Bytes of JSON of an object that is read. A larger one is skipped while it arrives, and counts as unknown. Ordinary
 * objects have 2 to 60 KiB; V8 parses the costliest one in 60 ms.
 */
export const objectBytes = bytes(512 * KiB, 'JSON of an object');

/** The same of objects that tenants do not write, or that only count: a kubelet may write reasons of 700 KB. */
export const trustedObjectBytes = bytes(
  3 * MiB,
  "JSON of a pod of a network's DaemonSet, or of a pod on a node that steering may nominate",
);

/** Bytes of an answer other than 2xx that are read. A Status has less than 4 KiB. */
export const refusalBytes = 64 * KiB;

/** Bytes of a list that is read as a whole: webhook configurations, and 500 events. */
export const listBytes = 8 * MiB;

/** What is kept of one object, whatever it has. The largest network DaemonSets have fewer than ten containers. */
export const listItems = count(64, 'containers, addresses or requested resources of one object');

/** Bytes of a list without its items: its version and the token of the next page. */
export const listEnvelopeBytes = 64 * KiB;

section('Pods that wait for a node');
/** Pods that wait for a node and are kept here. The gate asks the API server for those that are not. */
export const pendingPods = {
  max: {
    count: count(10_000, 'waiting pods'),
    bytes: bytes(32 * MiB, 'estimated memory of waiting pods'),
  },
  requiredCharacters: count(16 * KiB, "characters of one pod's scheduling requirements"),
};

/** Pods whose first refusal is remembered, the latest ones: of others, the condition tells since when they are held. */
export const heldPods = count(10_000, 'pods whose first refusal is remembered', 'older holds can begin anew');

section('Verdicts of pods');
/** Pods on nodes of which the verdict is kept. Kubernetes supports 150,000 pods. */
export const evidencePods = {
  max: {
    count: count(120_000, 'verdicts, in all namespaces'),
    bytes: bytes(96 * MiB, 'estimated memory of the verdicts'),
  },
  /** Different texts that are kept once for all pods, of each kind. */
  sharedTexts: 50_000,
  /** As JSON. Ordinary pods have about 400. */
  requiredCharacters: count(
    4 * KiB,
    "characters of a failed pod's requirements",
    'the pod waits for its own node',
  ),
  /** Different requirements that are kept once for all failed pods. */
  sharedKinds: 1000,
};

/** What is remembered of each profile on each node, longer than the pods that showed it live. */
export const nodeEvidence = {
  /** Two are enough for a judgement. Each that failed waits longer. */
  owners: count(64, 'controllers with failed pods, for each node and profile'),
  /** Pods can name nodes that do not exist. */
  nodes: count(20_000, 'remembered nodes, for each profile'),
  /** They go before others where a node has to be proved. */
  passedOwners: count(20_000, 'controllers with a pod that has passed', 'older ones are forgotten'),
};

/** Users can claim any number of addresses by `network-status` of their own pods. */
export const duplicatesOfNamespace = count(
  500,
  '[duplicate addresses](errors.md#two-pods-with-one-address), for each namespace and between namespaces',
);

section('Nodes and namespaces');
/** Namespaces that opted in; the API server is asked about others. One with 5 labels takes about 2 KiB. */
export const namespaces = {
  max: {
    count: count(10_000, 'namespaces that opted in'),
    bytes: bytes(16 * MiB, 'estimated memory of these namespaces'),
  },
  each: bytes(
    128 * KiB,
    'labels and numeric annotations of a namespace (about 600 labels)',
    '[`CNI_GATE_CLUSTER_TOO_LARGE`](errors.md#cni_gate_cluster_too_large)',
  ),
};

/** Kubernetes supports 5,000 nodes; one with 40 labels takes about 9 KiB. The gate lets pods through to others. */
export const nodes = {
  max: { count: count(15_000, 'nodes'), bytes: bytes(64 * MiB, 'estimated memory of nodes') },
  /** About 1,200 labels. Feature discovery creates up to 200. */
  each: bytes(256 * KiB, 'labels, taints and resources of one node'),
};

/** Characters of a name, UID or word of an object or a call: Kubernetes allows 253 for a DNS subdomain. */
export const nameCharacters = 253;

section('Free capacity of nodes');
/** What is kept of each pod on a node. */
export const placedPods = {
  listBytes: bytes(512 * MiB, "list of one node's pods", 'the node counts as full'),
  /** So many bytes of such a list cost as much of the rate of requests as one request. */
  bytesOfAQuestion: 4 * MiB,
  /** Lists a second, and at once after a pause. */
  perSecond: 10,
  burst: 20,
};

/** Events a second, at once after a pause, and in parallel: fewer than nominations, which matter more. */
export const eventLimits = { perSecond: 10, burst: 50, inParallel: 5 } as const;

/** Milliseconds until the pods of a namespace that opted in or out are listed, and between two such lists. */
export const relist = { first: 200, next: 5000 };

section('Quoted texts');
/** Texts that others write: labels, annotations, a kubelet's reasons, conditions. */
export const texts = {
  /** Kubernetes cuts event notes at 1,024 bytes. */
  quoted: count(512, 'characters of a quoted text', 'cut'),
  /** Kubernetes takes 256 KiB for all annotations (`TotalAnnotationSizeLimitB`); 100 networks as JSON have 10 KiB. */
  annotation: count(
    64 * KiB,
    'characters of an annotation with a list or JSON, or of a condition',
    'counts as unreadable',
  ),
  quantity: count(256, 'characters of a quantity, such as `250m`', 'counts as unreadable'),
};

section('Requests to the API server');
/**
 * Requests for single objects that no watch has reported, for pods and for namespaces each. kube-scheduler binds 50 pods
 * a second at most, and 100 at once (`clientConnection` of KubeSchedulerConfiguration).
 */
export const lookups = {
  perSecond: count(100, 'requests a second'),
  burst: count(200, 'requests at once, after a pause'),
  inFlight: count(16, 'requests in flight; further requests wait'),
};

section('Dashboard');
/** What the local page of `cni-gate dashboard` keeps and shows. */
export const dashboardLimits = {
  pause: time(2_000, 'pause between two readings'),
  /** Connections at a time; a browser opens six. */
  connections: 64,
  /** Milliseconds until the headers of a request are there. */
  headersTimeout: 10_000,
};
