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
  const path = segments(error.instancePath);
  const schema = (error.parentSchema ?? {}) as {
    properties?: object;
    description?: string;
    type?: unknown;
  };
  const params = error.params as Record<string, unknown>;
  const hint = schema.description === undefined ? '' : ` (${schema.description})`;
  switch (error.keyword) {
    case 'additionalProperties': {
      const allowed = Object.keys(schema.properties ?? {});
      return {
        path: [...path, String(params.additionalProperty)],
        text: `unknown field; allowed here: ${allowed.join(', ')}`,
      };
    }
    case 'required':
      return { path, text: `"${String(params.missingProperty)}" is missing` };
    case 'type':
      return { path, text: `must be ${list(params.type)}, is ${show(error.data)}${hint}` };
    case 'enum':
      return { path, text: `must be one of ${list(params.allowedValues)}, is ${show(error.data)}` };
    case 'const':
      return { path, text: `must be ${show(params.allowedValue)}, is ${show(error.data)}` };
    case 'propertyNames':
      return {
        path: [...path, String(params.propertyName)],
        text: 'is not a label or annotation key: at most 63 characters, after an optional DNS prefix and a slash',
      };
    case 'minProperties':
    case 'maxProperties':
      return {
        path,
        text: `must be ${schema.description ?? 'an object'}, has ${list(Object.keys(Object(error.data))) || 'nothing'}`,
      };
    case 'pattern':
    case 'maxLength':
      return { path, text: `${show(error.data)} is not allowed${hint}` };
    default:
      return { path, text: `${error.message ?? error.keyword}, is ${show(error.data)}${hint}` };
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
