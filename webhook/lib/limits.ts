/** Limits on what others can send or create. docs/reference/limits.md explains those that users may notice. */

const KiB = 1024;
const MiB = 1024 * KiB;

/** Limits of a request body, in bytes and milliseconds. They are the same on every machine. */
const bodyLimits = {
  /** etcd accepts 1.5 MiB of protobuf (`--max-request-bytes`), which become up to 4.5 MiB of JSON. */
  body: 5 * MiB,
  /** Larger bodies wait for one of `largeBodies`. Parsing a smaller one takes at most 10 ms; a pod has 3 to 20 KiB. */
  smallBody: 64 * KiB,
  /** The number of places for larger bodies. A body keeps its place, and its memory, until its request is answered. */
  largeBodies: 8,
  /** The longest wait for a place: shorter than the webhooks' `timeoutSeconds`, but longer than `largeBodyArrival`. */
  largeBodyWait: 3_000,
  /** How long a larger body may take to arrive. An API server sends a body without pauses. */
  largeBodyArrival: 2_000,
  /** The maximum number of lists, objects and strings in a larger body. Parsing them takes at most 50 ms. */
  bodyParts: 100_000,
};

/** How many small bodies are read in one turn of the event loop, which takes less than 0.1 s. */
export const bodiesOfTurn = 8;

/** Time limits of a connection to the admission port, in milliseconds. */
const connectionLimits = {
  /** Time for the TLS handshake, from the start of the connection. */
  handshakeTimeout: 5_000,
  /** Time for the headers, and for the whole request, from its first byte. The API server sends both without pauses. */
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  /** The interval at which the server looks for requests that exceed a time limit. */
  timeoutCheck: 1_000,
  /** Go's HTTP client keeps idle connections for 90 s, even unused ones. The server must not close them before that. */
  keepAliveTimeout: 95_000,
};

/** Limits of the admission server that are the same on every machine, in bytes and milliseconds. */
export const serverLimits = { ...bodyLimits, ...connectionLimits };

/** The maximum number of connections to the admission port. An idle connection takes about 50 KiB. */
export const mostConnections = 1024;

/** Unanswered requests per connection. Go's client may send a request while the server still writes an answer. */
export const mostPipelined = 2;
/** How many addresses of clients that got a valid answer are remembered. A control plane has only a few API servers. */
export const knownAddresses = 256;

/** How many TLS handshakes begin in one turn of the event loop. Each takes 0.8 ms (docs/decisions/certificates.md). */
export const handshakesOfTurn = 4;

/** Limits of the port for probes and metrics, in bytes and milliseconds. */
export const opsLimits = {
  /** Enough connections for the kubelet's probes and a few scrapers. */
  connections: 64,
  /** No request to this port has a body. */
  body: 1 * KiB,
  /** Time for a request, from the beginning of the connection. */
  requestTimeout: 5_000,
  keepAliveTimeout: 75_000,
  /** How long the text of the metrics is cached. */
  metricsAge: 1_000,
};

/** Limits of the search for nodes to nominate. Comparing a pod with a node takes about a microsecond. */
export const planLimits = {
  /** Comparisons per second, for all namespaces together. They take about a tenth of the time of one core. */
  perSecond: 60_000,
  /** Comparisons that may be made without delay after a pause. */
  burst: 120_000,
  /** Nominations per second. Each costs as much as `perSecond / nominations` comparisons. */
  nominations: 25,
  /** After this many comparisons, the search yields to admission calls and to the renewal of the Lease. */
  slice: 500,
  /** The maximum sum of a pod's node selector entries, expressions, tolerations and resources. Most have under 20. */
  terms: 100,
} as const;

/** Limits of repair that cannot be configured (docs/decisions/repair.md). Times are in milliseconds. */
export const repairLimits = {
  /** The pause in a controller's repair after a replacement fails. The pause doubles with each further failure. */
  pause: 5000,
  longestPause: 600_000,
  /** How long a controller's other pods wait for a replacement's verdict; `longestPause` after a lost pod. */
  verdict: 60_000,
  /** Repair stops if the replacements of more than half of the controllers failed. */
  breaker: {
    /** At least this many controllers must have outcomes in the time `within` before repair stops for the same time. */
    least: 10,
    within: 300_000,
    /** At most this many failures of a namespace count, so that one namespace cannot stop the repair of others. */
    ofNamespace: 5,
  },
  /** Every 5 s, repair searches nodes for at most this many different scheduling requirements of a namespace. */
  kinds: 64,
};

/**
 * The maximum size of an object that is read. Larger objects are skipped while they arrive, and count as unknown.
 * Ordinary objects have 2 to 60 KiB. At this size, V8 needs up to 60 ms to parse an object.
 */
export const objectBytes = 512 * KiB;

/** The same for pods of network DaemonSets, and for pods whose requests are summed: a pod's status may have 700 KB. */
export const trustedObjectBytes = 3 * MiB;

/** The maximum size, in bytes, of a file that is named by a flag. */
export const fileBytes = 64 * MiB;

/** The most addresses or containers of a pod in memory. Large network DaemonSets have fewer than ten containers. */
export const listItems = 64;

/** Limits for the waiting pods in memory. The gate gets any other pod from the API server. */
export const pendingPods = {
  max: { count: 10_000, bytes: 32 * MiB },
  /** Characters of one pod's scheduling requirements. */
  requiredCharacters: 16 * KiB,
};

/** How many refused pods are remembered. For other pods, the pod's status shows roughly when the hold began. */
export const heldPods = 10_000;

/** Limits of the cache of bound pods and their verdicts. Kubernetes supports 150,000 pods. */
export const evidencePods = {
  max: { count: 120_000, bytes: 96 * MiB },
  /** How many different texts, and lists of texts, the pods share in memory. */
  sharedTexts: 50_000,
  /** Characters of a failed pod's requirements as JSON. Ordinary pods have about 400. */
  requiredCharacters: 4 * KiB,
  /** How many different requirements the failed pods share in memory. */
  sharedKinds: 1000,
};

/** Limits of the evidence about profiles on nodes, which outlives the pods that it comes from. */
export const nodeEvidence = {
  /** Controllers with failed pods, for each node and profile. Two are enough to judge a node. */
  owners: 64,
  /** Nodes of each profile. They are limited, because pods can name nodes that do not exist. */
  nodes: 20_000,
  /** Controllers whose pods have passed: half of repair's budgets is reserved for them. */
  passedOwners: 20_000,
};

/** How many duplicates of a namespace count: users can claim any address in the annotation `network-status`. */
export const duplicatesOfNamespace = 500;

/** Limits of the cache of opted-in namespaces; others are requested when needed. Five labels take 2 KiB. */
export const namespaces = { max: { count: 10_000, bytes: 16 * MiB } };

/** Limits of the cache of nodes. Kubernetes supports 5,000; 40 labels take 9 KiB. The gate allows unknown nodes. */
export const nodes = { max: { count: 15_000, bytes: 64 * MiB } };

/** The maximum length of a name, UID or keyword in an object or call. Kubernetes allows 253 for a DNS subdomain. */
export const nameCharacters = 253;

/** Limits of lists of the pods on one node, from which its free capacity is computed. */
export const placedPods = {
  /** In the rate below, each 4 MiB of a list count as one more list. */
  bytesOfAQuestion: 4 * MiB,
  /** Lists per second; after a pause, up to `burst` lists without delay. */
  perSecond: 10,
  burst: 20,
};

/** Milliseconds from an opt-in or opt-out to the list of pods (`first`), and between two such lists (`next`). */
export const relist = { first: 200, next: 5000 };

/** Limits of texts that users and kubelets write: labels, annotations, reasons, conditions. */
export const texts = {
  /** Characters after which a text is cut off. Kubernetes accepts at most 1,024 bytes in the note of an event. */
  quoted: 512,
  /** A longer list, JSON or condition is not read. 100 networks as JSON have 10 KiB. */
  annotation: 64 * KiB,
  /** Characters of a quantity, such as `250m`. */
  quantity: 256,
};

/**
 * Limits of requests for single objects that no watch has reported. They apply to pods and to namespaces separately.
 * kube-scheduler binds at most 50 pods per second, in bursts of 100 (`clientConnection` of KubeSchedulerConfiguration).
 */
export const lookups = {
  perSecond: 100,
  burst: 200,
  /** Concurrent requests; further ones wait. */
  inFlight: 16,
};

/** Bytes of log that wait for a slow reader. Further lines are lost: waiting for the reader would stop admission. */
export const logBuffer = 4 * MiB;
