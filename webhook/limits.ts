/**
 * What is kept of, computed on and quoted from input that others write. Each limit says its unit and why it is what it
 * is; where a limit bites, a metric or the text says so.
 */

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
  /** Questions without an answer yet. */
  atATime: 100,
} as const;
