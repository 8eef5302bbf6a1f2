import type { ValidateFunction } from 'ajv';
import { CniGateError } from '../lib/errors.ts';
import { readYaml, type YamlDocument, YamlError } from '../lib/yaml.ts';
import { configurationYaml } from '../lib/yaml-schema.ts';
import { dotted, explain, type Fault } from './explain.ts';

/** At most this many faults are reported at once, so that a wrong file does not fill the screen. */
const mostFaults = 10;

/**
 * Parses and checks a YAML text, fills in the schema's defaults, and returns the value.
 *
 * @param file the name of the text for messages
 * @param validate compiled by ajv with the options `allErrors`, `verbose` and `useDefaults`
 * @param rules checks that a schema cannot express; called only if the text matches the schema
 * @throws CniGateError CNI_GATE_CONFIG_SYNTAX or CNI_GATE_CONFIG_INVALID, with file, line, path and what is allowed
 */
export function parseChecked<T>(
  text: string,
  file: string,
  validate: ValidateFunction<T>,
  rules: (value: T) => Fault[] = () => [],
): T {
  const { value, lineOf } = read(text, file);
  const faults = validate(value)
    ? rules(value)
    : (validate.errors ?? []).filter(isCause).map((error) => explain(error));
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

/** The value of the text, which has one document, and the lines in it. */
function read(text: string, file: string): Pick<YamlDocument, 'value' | 'lineOf'> {
  try {
    // a line `---` alone begins a document without contents
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

/** ajv reports a wrong property name twice; the second report contains the name. */
function isCause(error: { propertyName?: string }): boolean {
  return error.propertyName === undefined;
}
