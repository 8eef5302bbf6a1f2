import { mostByAliases } from '../input/limits.ts';
import { type AliasNode, isMergeKey, type MapNode, type ScalarNode, type YamlNode } from './nodes.ts';
import { type Plain, resolvePlain } from './resolve.ts';
import { YamlError, YamlTooLarge } from './tokens.ts';

/**
 * The value of a document as JSON, with aliases and merge keys resolved: maps are objects with string keys. Of two
 * equal keys the last one counts; a merge key after a key of the map overrides it.
 *
 * @throws YamlError for values that JSON cannot express, and for aliases that expand too much
 */
export function jsonValue(root: YamlNode): unknown {
  new Weigher().weigh(root);
  return new Builder().value(root);
}

/**
 * Checks that aliases have anchors and expand to at most {@link mostByAliases} characters: otherwise a few lines could
 * expand to gigabytes.
 */
class Weigher {
  readonly #weights = new Map<YamlNode, number>();
  readonly #open = new Set<YamlNode>();

  /** The approximate number of characters of a node with its aliases expanded. */
  weigh(node: YamlNode): number {
    const known = this.#weights.get(node);
    if (known !== undefined) return known;
    if (this.#open.has(node)) throw new YamlError(`&${node.anchor} contains itself`, node.start);
    this.#open.add(node);
    const weight = this.#sum(node);
    this.#open.delete(node);
    if (node.anchor !== undefined || node.kind === 'alias') this.#weights.set(node, weight);
    return weight;
  }

  #sum(node: YamlNode): number {
    switch (node.kind) {
      case 'scalar':
        return node.value.length + 1;
      case 'alias':
        return this.#bounded(this.weigh(node.target), node);
      case 'seq':
        return node.items.reduce((sum, item) => sum + this.#child(item, sum), 1);
      case 'map':
        return node.pairs.reduce(
          (sum, { key, value }) => sum + this.#child(key, sum) + this.#child(value, sum),
          1,
        );
    }
  }

  /** Without aliases, the length of the text is the bound. */
  #child(node: YamlNode, before: number): number {
    const weight = this.weigh(node);
    if (node.kind === 'alias') this.#bounded(before + weight, node);
    return weight;
  }

  #bounded(weight: number, alias: AliasNode): number {
    if (weight <= mostByAliases) return weight;
    throw new YamlTooLarge(
      `*${alias.name}: aliases expand to more than ${mostByAliases} characters`,
      alias.start,
    );
  }
}

type Fields = Record<string, unknown>;

class Builder {
  /** Values of nodes with an anchor, which are shared. */
  readonly #shared = new Map<YamlNode, unknown>();

  value(node: YamlNode): unknown {
    switch (node.kind) {
      case 'scalar':
        return jsonNumber(scalarValue(node), node);
      case 'alias':
        return this.#sharedValue(node.target);
      case 'seq':
        return node.items.map((item) => this.value(item));
      case 'map': {
        const fields: Fields = {};
        this.#fill(fields, node);
        return fields;
      }
    }
  }

  #sharedValue(target: YamlNode): unknown {
    if (!this.#shared.has(target)) this.#shared.set(target, this.value(target));
    return this.#shared.get(target);
  }

  #fill(fields: Fields, map: MapNode): void {
    for (const { key, value } of map.pairs) {
      if (isMergeKey(key)) this.#merge(fields, value);
      else set(fields, keyText(key), this.value(value));
    }
  }

  #merge(fields: Fields, node: YamlNode): void {
    // of the maps in a list, the first one takes precedence
    const maps = node.kind === 'seq' ? node.items.toReversed() : [node];
    for (const one of maps) {
      const map = one.kind === 'alias' ? one.target : one;
      if (map.kind !== 'map')
        throw new YamlError('the merge key "<<" requires a map, or a list of maps', one.start);
      this.#fill(fields, map);
    }
  }
}

/** `__proto__` is an ordinary key. */
function set(fields: Fields, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(fields, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    fields[key] = value;
  }
}

/** The text of a key: for a boolean or number, the text of its value, so that `yes` and `true` are the same key. */
export function keyText(node: YamlNode): string {
  const key = node.kind === 'alias' ? node.target : node;
  if (key.kind !== 'scalar') throw new YamlError('expected a text as key, found a map or a list', node.start);
  const value = scalarValue(key);
  if (value === null) throw new YamlError('a key is missing, or null', node.start);
  return typeof value === 'number' ? floatKey(value) : String(value);
}

/** As Go's `strconv.FormatFloat(value, 'g', -1, 32)` writes it (sigs.k8s.io/yaml convertToJSONableObject). */
function floatKey(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? '.nan' : value < 0 ? '-.inf' : '.inf';
  const single = Math.fround(value);
  if (!Number.isFinite(single)) return single < 0 ? '-.inf' : '.inf';
  let digits = 1;
  while (digits < 9 && Math.fround(Number(single.toExponential(digits - 1))) !== single) digits += 1;
  const text = single.toExponential(digits - 1);
  const exponent = Number(text.slice(text.indexOf('e') + 1));
  const bound = digits > 6 && digits >= exponent + 1 ? Math.max(6, digits) : 6;
  if (exponent >= -4 && exponent < (bound > 21 ? 21 : 6)) return String(Number(text));
  const [mantissa = ''] = text.split('e');
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

const standard = 'tag:yaml.org,2002:';

/** The value of a scalar by its tag, or by its form if it has neither tag nor quotes. */
function scalarValue(node: ScalarNode): Plain {
  const { tag, value, style } = node;
  if (tag === undefined) return style === 'plain' || style === 'empty' ? resolvePlain(value) : value;
  if (!tag.startsWith(standard)) return value;
  const resolved = resolvePlain(value);
  const wrong = (): never => {
    throw new YamlError(`"${value}" is not a valid !!${tag.slice(standard.length)}`, node.start);
  };
  switch (tag.slice(standard.length)) {
    case 'null':
      return resolved === null ? null : wrong();
    case 'bool':
      return typeof resolved === 'boolean' ? resolved : wrong();
    case 'int':
      return typeof resolved === 'bigint' ? resolved : wrong();
    case 'float':
      return typeof resolved === 'bigint' || typeof resolved === 'number' ? Number(resolved) : wrong();
    case 'timestamp':
      return timestamp.test(value) ? value : wrong();
    case 'binary':
      return base64.test(value.replace(/[\r\n]/g, '')) ? Buffer.from(value, 'base64').toString() : wrong();
    default:
      return value;
  }
}

const timestamp =
  /^\d{4}-\d\d?-\d\d?(?:[Tt]\d\d?:\d\d?:\d\d?(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)| \d\d?:\d\d?:\d\d?(?:\.\d+)?)?$/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** JSON has neither infinity nor NaN. */
function jsonNumber(value: Plain, node: ScalarNode): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new YamlError(`${node.value} is not a number in JSON: put it in quotes`, node.start);
  }
  return value;
}
