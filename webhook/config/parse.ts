import type { ErrorObject, ValidateFunction } from 'ajv';
import { CniGateError } from '../lib/errors.ts';
import { readYaml, type YamlDocument, YamlError } from '../lib/yaml.ts';
import { configurationYaml } from '../lib/yaml-schema.ts';

/** An error in a document: the path as segments, and a text that says what was expected and what was found. */
export interface Fault {
  path: (string | number)[];
  text: string;
}

/** The maximum number of reported errors, so that an entirely wrong file does not fill the screen. */
const mostFaults = 10;

/**
 * Parses and checks a YAML text, and fills in the schema's defaults.
 * @param validate compiled by ajv with the options `allErrors`, `verbose` and `useDefaults`
 * @param rules checks that a schema cannot express; called only if the text matches the schema
 * @throws CniGateError CNI_GATE_CONFIG_SYNTAX or CNI_GATE_CONFIG_INVALID
 */
export function parseChecked<T>(
  text: string,
  file: string,
  validate: ValidateFunction<T>,
  rules: (value: T) => Fault[] = () => [],
): T {
  const { value, lineOf } = read(text, file);
  // ajv reports an invalid property name twice: only the error that is kept here has the name in `params`
  const faults = validate(value)
    ? rules(value)
    : (validate.errors ?? []).filter(({ propertyName }) => propertyName === undefined).map(explain);
  if (faults.length > 0) {
    const reported = faults
      .slice(0, mostFaults)
      .map(({ path, text }) => `${file}:${lineOf(path)}: ${dotted(path) || 'the document'}: ${text}`);
    const more = faults.length - reported.length;
    throw new CniGateError(
      'CNI_GATE_CONFIG_INVALID',
      reported.join('\n') + (more > 0 ? `\nand ${more} more` : ''),
    );
  }
  return value as T;
}

/** Reads a text with one document. Returns the document's value, and a function that finds the line of a path. */
function read(text: string, file: string): Pick<YamlDocument, 'value' | 'lineOf'> {
  try {
    // an empty document between `---` markers has the value null
    const [document, second] = readYaml(text, configurationYaml).filter(({ value }) => value !== null);
    if (second !== undefined) {
      throw new YamlError('a second document begins here', { line: second.lineOf([]), col: 1 });
    }
    return document ?? { value: null, lineOf: () => 1 };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const { line, column, message } = error;
    throw new CniGateError('CNI_GATE_CONFIG_SYNTAX', `${file}:${line}:${column}: not YAML: ${message}`);
  }
}

/** The segments of a JSON Pointer (RFC 6901). A segment that contains only digits becomes a number. */
export function segments(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

/** A path as JSON Pointer (RFC 6901). */
export const pointer = (path: readonly (string | number)[]): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};

const list = (values: unknown): string => (Array.isArray(values) ? values.join(', ') : String(values));

/** Converts an ajv error to a fault that says what is allowed and what was found. Needs ajv's option `verbose`. */
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

/** A path such as `profiles[0].proof.checks[1].redirect`. Keys that contain dots or slashes are in brackets. */
export function dotted(path: readonly (string | number)[]): string {
  return path
    .map((part) =>
      typeof part === 'number' ? `[${part}]` : /^[A-Za-z0-9_-]+$/.test(part) ? `.${part}` : `["${part}"]`,
    )
    .join('')
    .replace(/^\./, '');
}
