/** The affinity of a pod that must run on a node that matches one of these terms. */
export const requiring = <Term>(...nodeSelectorTerms: Term[]) => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
});
