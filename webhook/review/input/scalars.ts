import type { ScalarTag } from 'yaml';
import { resolvePlain } from '../yaml/resolve.ts';

/**
 * The forms of plain scalars that Kubernetes does not read as strings. The library that writes YAML quotes such texts.
 * Their meaning is in `../yaml/resolve.ts`.
 */
export const kubernetesScalars: ScalarTag[] = [
  plain('null', /^(?:~|null|Null|NULL|)$/, (value) => value === null || value === undefined),
  plain('bool', /^(?:y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/, (value) => value === true),
  plain('bool', /^(?:n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/, (value) => value === false),
  plain('int', /^[-+]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|0[0-7_]*|[1-9][0-9_]*)$/, (value) =>
    Number.isInteger(value),
  ),
  plain(
    'float',
    /^[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$/,
    (value) => typeof value === 'number',
  ),
];

function plain(name: string, test: RegExp, identify: (value: unknown) => boolean): ScalarTag {
  return {
    tag: `tag:yaml.org,2002:${name}`,
    default: true,
    test,
    resolve: (text) => {
      const value = resolvePlain(text);
      return typeof value === 'bigint' ? Number(value) : value;
    },
    identify,
    // values are written as they were read: 0644 must not become 420
    stringify: ({ source, value }) => source ?? String(value),
  };
}
