/** A taint of a node. */
export interface Taint {
  key: string;
  value?: string;
  effect: string;
}

/** A toleration of a pod. */
export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
}

/** Effects that keep a pod off a node; `PreferNoSchedule` does not. */
const repelling = new Set(['NoSchedule', 'NoExecute']);

/** Whether the tolerations let a pod onto a node with these taints. */
export const toleratesAll = (tolerations: readonly Toleration[], taints: readonly Taint[]): boolean =>
  taints
    .filter(({ effect }) => repelling.has(effect))
    .every((taint) => tolerations.some((toleration) => tolerates(toleration, taint)));

/** An absent field of a toleration matches everything. Source: Kubernetes, `Toleration.ToleratesTaint`. */
function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key = '', operator = '', value = '', effect = '' } = toleration;
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (operator === '' || operator === 'Equal') && value === (taint.value ?? '');
}
