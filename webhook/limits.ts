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
   * Terms in which a pod may ask for a node: node selector entries, expressions, tolerations, resources, and
   * expressions about other pods. More make the pod `unwieldy`, and it is left to the scheduler. Pods as people write
   * them have fewer than 20; a list of values is one term.
   */
  terms: 100,
  /**
   * Steps for one question whether the pods of a node rule out another pod. A node with 110 pods and a pod that asks
   * with 100 terms stays below. Beyond, only the scheduler judges.
   */
  neighbourSteps: 100_000,
  /** The longest rest after a round, in milliseconds: pods of others that were refused meanwhile wait for it. */
  longestRest: 5000,
} as const;
