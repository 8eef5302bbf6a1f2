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

/** From this many comparisons on, tolerations are indexed: both lists may be as long as an object allows. */
const many = 10_000;

/** Whether the tolerations let a pod onto a node with these taints. */
export function toleratesAll(tolerations: readonly Toleration[], taints: readonly Taint[]): boolean {
  const all = taints.filter((taint) => repelling.has(taint.effect));
  if (tolerations.length * all.length >= many) return all.every(tolerating(tolerations));
  return all.every((taint) => tolerations.some((toleration) => tolerates(toleration, taint)));
}

/** {@link tolerates} for many tolerations: the work for one taint does not depend on their number. */
function tolerating(tolerations: readonly Toleration[]): (taint: Taint) => boolean {
  const keyOf = (key: string, value: string | undefined, effect: string): string =>
    JSON.stringify([key, value, effect]);
  const tolerated = new Set<string>();
  for (const { key = '', operator = '', value = '', effect = '' } of tolerations) {
    if (operator === 'Exists') tolerated.add(keyOf(key, undefined, effect));
    else if (operator === '' || operator === 'Equal') tolerated.add(keyOf(key, value, effect));
  }
  return ({ key, value = '', effect }) =>
    [key, ''].some((asked) =>
      [effect, ''].some(
        (over) => tolerated.has(keyOf(asked, undefined, over)) || tolerated.has(keyOf(asked, value, over)),
      ),
    );
}

/** An absent field of a toleration matches everything. Source: Kubernetes, `Toleration.ToleratesTaint`. */
function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key = '', operator = '', value = '', effect = '' } = toleration;
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (operator === '' || operator === 'Equal') && value === (taint.value ?? '');
}
