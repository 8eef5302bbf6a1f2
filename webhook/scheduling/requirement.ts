/** What a label, or a field, of a node or of a pod has to be. */
export interface Requirement {
  key: string;
  operator: string;
  values?: string[] | null;
}

/** Whether a value, undefined where there is none, is as the requirement asks. An operator not known is not met. */
export function matches({ operator, values }: Requirement, value: string | undefined): boolean {
  const given = values ?? [];
  switch (operator) {
    case 'In':
      return value !== undefined && given.includes(value);
    case 'NotIn':
      return value === undefined || !given.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
    case 'Lt':
      return compares(operator, value, given[0]);
    default:
      return false;
  }
}

/** Both sides are whole numbers of up to 63 digits, as a label's value has, or the requirement is not met. */
function compares(operator: 'Gt' | 'Lt', left: string | undefined, right: string | undefined): boolean {
  const whole = /^[+-]?\d{1,63}$/;
  if (left === undefined || right === undefined || !whole.test(left) || !whole.test(right)) return false;
  return operator === 'Gt' ? BigInt(left) > BigInt(right) : BigInt(left) < BigInt(right);
}
