import type { ErrorObject } from 'ajv';

/** A fault in a document: its path in JSON Pointer segments, and what was expected and seen. */
export interface Fault {
  path: (string | number)[];
  text: string;
}

/** The segments of a JSON Pointer (RFC 6901), as numbers if they look like an index. */
function segments(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};

const list = (values: unknown): string => (Array.isArray(values) ? values.join(', ') : String(values));

/** The text of an ajv error: what is allowed and what was seen. Needs ajv's option `verbose`. */
export function explain(error: ErrorObject): Fault {
  const { additionalProperty, propertyName } = error.params as Record<string, unknown>;
  const key = additionalProperty ?? propertyName;
  return {
    path: [...segments(error.instancePath), ...(key === undefined ? [] : [String(key)])],
    text: textOf(error),
  };
}

function textOf({ keyword, params, parentSchema = {}, data, message = keyword }: ErrorObject): string {
  const { properties = {}, description } = parentSchema as { properties?: object; description?: string };
  const hint = description === undefined ? '' : ` (${description})`;
  switch (keyword) {
    case 'additionalProperties':
      return `unknown field; allowed here: ${Object.keys(properties).join(', ')}`;
    case 'required':
      return `"${params.missingProperty}" is missing`;
    case 'type':
      return `must be ${list(params.type)}, is ${show(data)}${hint}`;
    case 'enum':
      return `must be one of ${list(params.allowedValues)}, is ${show(data)}`;
    case 'const':
      return `must be ${show(params.allowedValue)}, is ${show(data)}`;
    case 'propertyNames':
      return 'is not a label or annotation key: at most 63 characters, after an optional DNS prefix and a slash';
    case 'minProperties':
    case 'maxProperties':
      return `must be ${description ?? 'an object'}, has ${list(Object.keys(Object(data))) || 'nothing'}`;
    case 'pattern':
    case 'maxLength':
      return `${show(data)} is not allowed${hint}`;
    default:
      return `${message}, is ${show(data)}${hint}`;
  }
}

/** `profiles[0].proof.checks[1].redirect`, with keys that contain dots or slashes in brackets. */
export function dotted(path: (string | number)[]): string {
  return path
    .map((part) =>
      typeof part === 'number' ? `[${part}]` : /^[A-Za-z0-9_-]+$/.test(part) ? `.${part}` : `["${part}"]`,
    )
    .join('')
    .replace(/^\./, '');
}
