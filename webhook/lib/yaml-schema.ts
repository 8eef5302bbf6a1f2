import type { DocumentOptions, ParseOptions, ScalarTag, SchemaOptions, Tags } from 'yaml';

const standard = 'tag:yaml.org,2002:';

/** Integers that Go's `strconv.ParseInt` accepts with base 0. A leading zero means octal; underscores are ignored. */
const integer = /^[-+]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO]?[0-7_]+|0|[1-9][0-9_]*)$/;
const float = /^[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$/;
/** The largest number that Go reads as an integer, as uint64. */
const largest = 2n ** 64n - 1n;

function integerOf(text: string): number | string {
  const digits = text.replaceAll(/[-+_]/g, '').toLowerCase();
  const size = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits);
  if (size > largest && digits.startsWith('0')) return text;
  return Number(text.startsWith('-') ? -size : size);
}

function floatOf(text: string): number | string {
  const value = Number(text.replaceAll('_', ''));
  return Number.isFinite(value) ? value : text;
}

const number = (name: 'int' | 'float', test: RegExp, resolve: ScalarTag['resolve']): ScalarTag => ({
  tag: `${standard}${name}`,
  default: true,
  test,
  identify: (value) => typeof value === 'number' && (name === 'float' || Number.isInteger(value)),
  resolve,
});

/** Tags of YAML 1.1 whose values Kubernetes reads by rules of its own, or as strings. */
const replaced = /:(?:int|float|timestamp|set|omap|pairs|binary)$/;

const kubernetesTags = (tags: Tags): Tags => [
  number('int', integer, integerOf),
  number('float', float, floatOf),
  ...tags.filter((tag) => typeof tag !== 'string' && !replaced.test(tag.tag)),
];

/**
 * Kubernetes' rules for YAML (go.yaml.in/yaml/v2 resolve.go): as in YAML 1.1, `yes` is true and `0644` is 420, but
 * `1:30` and dates are strings. `tests/yaml` compares what Kubernetes and cni-gate read.
 */
export const kubernetesYaml: ParseOptions & DocumentOptions & SchemaOptions = {
  version: '1.1',
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'silent',
  customTags: kubernetesTags,
};

/** The rules for cni-gate's configuration: YAML 1.2, in which the mode `off` is a string, with merge keys. */
export const configurationYaml: typeof kubernetesYaml = {
  version: '1.2',
  merge: true,
  prettyErrors: false,
  logLevel: 'silent',
};
