import {
  Composer,
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  stringify,
} from 'yaml';
import { kubernetesYaml } from './yaml-schema.ts';

/** A text that is not YAML, or that exceeds a limit. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1. */
  readonly column: number;

  constructor(message: string, { line, col }: { line: number; col: number }) {
    super(message);
    this.line = line;
    this.column = col;
  }
}

/** The keys and indexes that lead from a value to a value inside it. */
type Path = readonly (string | number)[];

/** A document of a YAML text. */
export interface YamlDocument {
  /** The value as in JSON. An alias has the same object as its anchor. */
  value: unknown;
  /** The line of the value at a path, or of the nearest parent that exists. A field begins at its key. */
  lineOf: (path: Path) => number;
}

/** The maximum nesting of maps and lists. It is limited because the package `yaml` uses recursion. */
const deepest = 200;
/** The maximum number of values that a document's aliases expand to. */
const mostAliases = 1000;

/**
 * Reads YAML with the rules of Kubernetes' reader (see `yaml-schema.ts`).
 *
 * @param options other rules, such as those of the configuration
 * @throws YamlError
 */
export function readYaml(text: string, options = kubernetesYaml): YamlDocument[] {
  const lines = new LineCounter();
  const composer = new Composer<Document.Parsed['contents'] & Node>(options);
  const documents = [...composer.compose(tokensOf(text, lines), false, text.length)] as Document.Parsed[];
  return documents.map((source) => {
    const [error] = source.errors;
    if (error !== undefined) throw new YamlError(error.message, lines.linePos(error.pos[0]));
    const lineOf = (path: Path): number => lines.linePos(offsetNear(source.contents, path)).line;
    return { value: toValue(source, lines), lineOf };
  });
}

/** Members of the package's lexer that its types do not declare. */
interface LexerInternals {
  lex: Lexer['lex'];
  /** The indentation that a line needs to continue the open value. */
  indentNext: number;
  parseQuotedScalar(): Generator<string>;
}

/**
 * The package's lexer, but the lines of a quoted string may have any indentation, as in go-yaml (scannerc.go,
 * `yaml_parser_scan_flow_scalar`). The documentation of Multus has quoted JSON that ends at the column of its key.
 */
class KubernetesLexer extends (Lexer as unknown as new () => LexerInternals) {
  override *parseQuotedScalar(): Generator<string> {
    const before = this.indentNext;
    this.indentNext = 0;
    const next = yield* super.parseQuotedScalar();
    this.indentNext = before;
    return next;
  }
}

/** The tokens of a text. The number of open maps and lists, which the package keeps on a stack, is limited here. */
function* tokensOf(text: string, lines: LineCounter): ReturnType<Parser['parse']> {
  const parser = new Parser(lines.addNewLine);
  const fail = (message: string): never => {
    throw new YamlError(message, lines.linePos(parser.offset - 1));
  };
  let before = '';
  lines.addNewLine(0);
  for (const lexeme of new KubernetesLexer().lex(text)) {
    yield* parser.next(lexeme);
    // the package would read an action of a template, such as "{{ .Values.name }}", as a map
    if (before === '{' && lexeme === '{') fail('a map cannot be a key');
    before = lexeme;
    if (parser.stack.length > deepest) fail(`nested too deeply: more than ${deepest} levels`);
  }
  yield* parser.end();
}

function toValue(document: Document.Parsed, lines: LineCounter): unknown {
  try {
    const value: unknown = document.toJS({ maxAliasCount: mostAliases });
    // throws a TypeError if a value contains itself through an alias
    JSON.stringify(value);
    return value;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const message =
      error instanceof TypeError ? 'an alias stands for a value that contains it' : error.message;
    const start = lines.linePos(document.contents?.range[0] ?? 0);
    throw new YamlError(message, start);
  }
}

/** The pair of a map with this key. If the map has several such pairs, the last pair counts. */
function pairAt(node: unknown, key: string | number): Pair<Node, Node | null> | undefined {
  if (!isMap<Node, Node | null>(node)) return undefined;
  return node.items.findLast((pair) => isScalar(pair.key) && String(pair.key.value) === String(key));
}

/** The offset of the value at a path, or of the nearest parent. */
function offsetNear(root: Node | null, path: Path): number {
  let offset = root?.range?.[0] ?? 0;
  let node: unknown = root;
  for (const [index, part] of path.entries()) {
    const key = pairAt(node, part)?.key;
    node = childOf(node, part);
    // a field begins at its key, and an object in a list begins at its first field
    const place = index === path.length - 1 && key !== undefined ? key : node;
    if (!isNode(place)) break;
    offset = place.range?.[0] ?? offset;
  }
  return offset;
}

/** The node at a key of a map or an index of a list. */
const childOf = (node: unknown, part: string | number): unknown =>
  isSeq(node) ? node.items[Number(part)] : pairAt(node, part)?.value;

/** The YAML text of a value. */
export const writeYaml = (value: unknown): string =>
  // a width of 0 keeps the package from folding long scalars
  stringify(value, { ...kubernetesYaml, aliasDuplicateObjects: false, lineWidth: 0 });
