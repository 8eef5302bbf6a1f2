import assert from 'node:assert/strict';
import { parse, stringify } from 'yaml';
import { builtInProfiles } from '../../webhook/config/builtin.ts';
import { parseConfiguration } from '../../webhook/config/load.ts';
import { Policy } from '../../webhook/core/profiles/policy.ts';
import type { Configuration } from '../../webhook/core/profiles/types.ts';
import { CniGateError } from '../../webhook/lib/errors.ts';

/** The first two lines of every configuration file. */
export const head = 'apiVersion: cni-gate.io/v1alpha1\nkind: Configuration\n';

/** The names of the built-in profiles, in their order. */
export const builtInNames = builtInProfiles().map(({ name }) => name);

/** What an error about an unknown profile ends with. */
export const configuredProfiles = `the configuration has: ${builtInNames.join(', ')}`;

/** A configuration file with these fields, read as a server reads it. */
export const configurationOf = (fields: object): Configuration =>
  parseConfiguration(stringify({ ...parse(head), ...fields }, { version: '1.1' }), 'config');

/** The policy of such a file. */
export const policyOf = (fields: object = {}): Policy => new Policy(configurationOf(fields));

/** Code and text that a file is refused with. What is given stands behind {@link head}, unless it is the whole. */
export function refusal(text: string, whole = false): string {
  try {
    parseConfiguration(whole ? text : head + text, 'cni-gate.yaml');
  } catch (error) {
    assert.ok(error instanceof CniGateError, String(error));
    return `${error.code}\n${error.message}`;
  }
  return 'accepted';
}

/** The refusal of a file that is YAML, line by line. */
export const invalid = (...lines: string[]): string => ['CNI_GATE_CONFIG_INVALID', ...lines].join('\n');
