/** The affinity of a pod that requires one of these terms of its node. */
export const requiring = <Term>(...nodeSelectorTerms: Term[]) => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
});
