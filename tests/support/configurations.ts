import assert from 'node:assert/strict';
import { parse, stringify } from 'yaml';
import { builtInProfiles } from '../../webhook/config/builtin.ts';
import { parseConfiguration } from '../../webhook/config/load.ts';
import { Policy } from '../../webhook/core/profiles/policy.ts';
import type { Configuration } from '../../webhook/core/profiles/types.ts';
import { CniGateError } from '../../webhook/lib/errors.ts';

/** The first two lines of every configuration file. */
export const head = 'apiVersion: cni-gate.io/v1alpha1\nkind: Configuration\n';

/** The names of the built-in profiles, in the order of {@link builtInProfiles}. */
export const builtInNames = builtInProfiles().map(({ name }) => name);

/** The end of an error about an unknown profile. */
export const configuredProfiles = `the configuration has: ${builtInNames.join(', ')}`;

/** A configuration with these fields, read as a server reads its file. */
export const configurationOf = (fields: object): Configuration =>
  parseConfiguration(stringify({ ...parse(head), ...fields }, { version: '1.1' }), 'config');

/** The policy of a configuration with these fields. */
export const policyOf = (fields: object = {}): Policy => new Policy(configurationOf(fields));

/** The code and message of the error for an invalid file: {@link head} and `text`, or only `text` if `whole` is set. */
export function refusal(text: string, whole = false): string {
  try {
    parseConfiguration(whole ? text : head + text, 'cni-gate.yaml');
  } catch (error) {
    assert.ok(error instanceof CniGateError, String(error));
    return `${error.code}\n${error.message}`;
  }
  return 'accepted';
}

/** The error for a file that is valid YAML but has these faults, one on each line. */
export const invalid = (...lines: string[]): string => ['CNI_GATE_CONFIG_INVALID', ...lines].join('\n');
