/**
 * What came of asking the API server about a made-up pod:
 * - `injected`: the pod came back with our init container in the first place;
 * - `nothing-promised`: cni-gate answered, and its configuration promises nothing to such a pod;
 * - `failed`: cni-gate did not answer, was not asked, or the pod was refused by it or by its policy;
 * - `not-made`: nobody could be asked, or somebody else refused the pod.
 */
export interface ProbeFacts {
  /** Where the pod was to be made; undefined where no namespace could be asked about. */
  namespace: string | undefined;
  outcome: 'injected' | 'nothing-promised' | 'failed' | 'not-made';
  /** What was seen, in words: the API server's own where it refused. */
  what: string;
}
