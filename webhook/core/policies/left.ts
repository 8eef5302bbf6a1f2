/*
 * Pods that the mutating policy leaves to the webhook. Instead of a status, the policy writes a mark:
 * `{"version":"VERSION","left":"REASON"}`. A mark may have further keys after these two.
 */

/**
 * Why a pod is left to the webhook, with a sentence for people. The sentence completes "this pod needs the server of
 * cni-gate: ", and says what to do without the server, if anything.
 */
export const leftReasons = {
  failed: 'the policy in the API server could not evaluate the pod, probably because the pod is too large',
  exempt:
    'the pod is exempt but has an annotation of an earlier injection: remove the annotation cni-gate.io/status',
  'unknown-profile':
    'the label cni-gate.io/profile names a profile that the policy in the API server does not have: correct the label',
  'profile-combination':
    'its profiles or the ids of its proxies contradict each other: see CNI_GATE_PROFILE_COMBINATION',
  'opt-out':
    'its label cni-gate.io/profile leaves out a profile of its namespace, which is not allowed: name that profile too',
  'name-taken':
    'it has a container cni-gate-validator or a volume cni-gate-podinfo that cni-gate did not add: rename it',
  removal:
    'it has parts of an earlier injection that no profile needs any more: remove cni-gate-validator, cni-gate-podinfo ' +
    'and the annotation cni-gate.io/status',
  annotations: 'a profile of the pod sets annotations',
  'own-validator': "a profile of the pod has the network's own validator (proof.container)",
  witness: 'a profile of the pod has the kubelet as witness (proof.witness)',
  'skipped-ports': 'an annotation of the pod or its namespace names ports that the mesh does not redirect',
  ids: "an annotation of the pod or its namespace with an id of the mesh's proxy is not a number above 0",
  families: "the mesh's proxy listens on other addresses than 0.0.0.0 and [::]",
} as const satisfies Record<string, string>;

/** A key of {@link leftReasons}. */
export type LeftReason = keyof typeof leftReasons;
