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

/** From this many comparisons on, tolerations are looked up: both lists may be as long as an object can be. */
const many = 10_000;

/** Whether the tolerations let a pod onto a node with these taints. */
export function toleratesAll(tolerations: readonly Toleration[], taints: readonly Taint[]): boolean {
  const all = taints.filter((taint) => repelling.has(taint.effect));
  if (tolerations.length * all.length >= many) return all.every(tolerating(tolerations));
  return all.every((taint) => tolerations.some((toleration) => tolerates(toleration, taint)));
}

/** {@link tolerates} by any of many tolerations, with the work that one taint makes independent of their number. */
function tolerating(tolerations: readonly Toleration[]): (taint: Taint) => boolean {
  const keyOf = (key: string, value: string | undefined, effect: string): string =>
    JSON.stringify([key, value, effect]);
  const reported = new Set<string>();
  for (const { key = '', operator = '', value = '', effect = '' } of tolerations) {
    if (operator === 'Exists') reported.add(keyOf(key, undefined, effect));
    else if (operator === '' || operator === 'Equal') reported.add(keyOf(key, value, effect));
  }
  return ({ key, value = '', effect }) =>
    [key, ''].some((asked) =>
      [effect, ''].some(
        (over) => reported.has(keyOf(asked, undefined, over)) || reported.has(keyOf(asked, value, over)),
      ),
    );
}

/** Source: Kubernetes, `Toleration.ToleratesTaint`: what a toleration leaves out, it does not ask about. */
function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key = '', operator = '', value = '', effect = '' } = toleration;
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (operator === '' || operator === 'Equal') && value === (taint.value ?? '');
}
