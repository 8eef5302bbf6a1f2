/** A requirement on a label or a field of a node. */
export interface Requirement {
  key: string;
  operator: string;
  values?: string[] | null;
}

/** Whether a value, undefined where it is missing, meets the requirement. No value meets an unknown operator. */
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

/**
 * Both sides are whole numbers of 64 bits, or the requirement is not met. Source: Kubernetes, `Requirement.Matches` in
 * `apimachinery/pkg/labels`.
 */
function compares(operator: 'Gt' | 'Lt', left: string | undefined, right: string | undefined): boolean {
  const [one, other] = [wholeOf(left), wholeOf(right)];
  if (one === undefined || other === undefined) return false;
  return operator === 'Gt' ? one > other : one < other;
}

/** Longer texts are not numbers of 64 bits, apart from leading zeros, and take long to parse. */
const longestNumber = 64;

function wholeOf(text: string | undefined): bigint | undefined {
  if (text === undefined || text.length > longestNumber || !/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
