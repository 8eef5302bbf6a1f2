import type { ScalarTag } from 'yaml';

/**
 * Plain scalars as Kubernetes reads them: by the rules of go-yaml v2, which are neither YAML 1.1 nor 1.2
 * (https://github.com/kubernetes-sigs/yaml, goyaml.v2/resolve.go). `yes` is true and `0644` is 420 as in 1.1, but
 * `1:30` and dates are strings as in 1.2, where 1.1 would make numbers and times of them.
 */
export const kubernetesScalars: ScalarTag[] = [
  plain(
    'null',
    /^(?:~|null|Null|NULL|)$/,
    () => null,
    (value) => value === null || value === undefined,
  ),
  plain(
    'bool',
    /^(?:y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/,
    () => true,
    (value) => value === true,
  ),
  plain(
    'bool',
    /^(?:n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/,
    () => false,
    (value) => value === false,
  ),
  plain(
    'int',
    /^[-+]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|0[0-7_]*|[1-9][0-9_]*)$/,
    integer,
    (value) => Number.isInteger(value),
  ),
  plain(
    'float',
    /^[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$/,
    (text) => Number(text.replaceAll('_', '')),
    (value) => typeof value === 'number',
  ),
];

function plain(
  name: string,
  test: RegExp,
  resolve: (text: string) => unknown,
  identify: (value: unknown) => boolean,
): ScalarTag {
  return {
    tag: `tag:yaml.org,2002:${name}`,
    default: true,
    test,
    resolve,
    identify,
    // what was read is written as it stood: 0644 must not become 420
    stringify: ({ source, value }) => source ?? String(value),
  };
}

/** Go's `strconv.ParseInt` with base 0, once underscores are gone: a leading zero means octal. */
function integer(text: string): number {
  const [, sign = '', digits = ''] = /^([-+]?)(.*)$/.exec(text.replaceAll('_', '')) ?? [];
  const number = Number(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits);
  return sign === '-' ? -number : number;
}
