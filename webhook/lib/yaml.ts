import {
  Composer,
  Document,
  isAlias,
  isDocument,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  type ToStringOptions,
  visit,
} from 'yaml';
import { kubernetesYaml } from './yaml-schema.ts';

/** A text that is not YAML, or that exceeds a limit. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** Whether it exceeds a limit. */
  readonly tooLarge: boolean;

  constructor(message: string, { line, col }: { line: number; col: number }, tooLarge = false) {
    super(message);
    this.line = line;
    this.column = col;
    this.tooLarge = tooLarge;
  }
}

/** Keys and indexes from a value to one inside it. */
type Path = readonly (string | number)[];

/** A document of a YAML text. */
export interface YamlDocument {
  source: Document.Parsed;
  /** As JSON would have it; aliases share values. */
  value: unknown;
  /** Whether an alias stands for a value in it. */
  shares: boolean;
  /** The line of the value at a path, or of the nearest parent. The line of a field is that of its key. */
  lineOf: (path: Path) => number;
}

/** The maximum nesting of maps and lists: the package composes a document recursively. */
const deepest = 200;
/** The maximum number of aliases in a document: the package searches each one's anchor. */
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
    return { source, ...toValue(source, lines), lineOf };
  });
}

/** What the package's lexer has, and its types do not show. */
interface LexerInternals {
  lex: Lexer['lex'];
  buffer: string;
  /** The number of open brackets and braces. */
  flowLevel: number;
  /** How far a line has to be indented to continue what is open. */
  indentNext: number;
  continueScalar(offset: number): number;
  parseFlowCollection(): Generator<string>;
  parseQuotedScalar(): Generator<string>;
}

/**
 * The package's lexer, for which lines in quotes, brackets and braces may have any indentation, as for go-yaml
 * (scannerc.go, `yaml_parser_unroll_indent`, `yaml_parser_scan_flow_scalar`, `yaml_parser_scan_plain_scalar`).
 */
class KubernetesLexer extends (Lexer as unknown as new () => LexerInternals) {
  /** Whether a tab stands where a block's indentation is missing behind a plain scalar, which go-yaml refuses. */
  hasTabs = false;
  /** In brackets and braces, and outside of quotes, the indentation of the block around them. */
  #block = 0;

  override continueScalar(offset: number): number {
    this.hasTabs ||= /^ *\t/.test(this.buffer.slice(offset, offset + this.#block));
    return super.continueScalar(offset);
  }

  override parseQuotedScalar(): Generator<string> {
    return this.#atAnyIndent(0, super.parseQuotedScalar());
  }

  override parseFlowCollection(): Generator<string> {
    return this.#atAnyIndent(this.indentNext, super.parseFlowCollection());
  }

  *#atAnyIndent(block: number, state: Generator<string>): Generator<string> {
    const before = [this.indentNext, this.#block] as const;
    [this.indentNext, this.#block] = [0, block];
    const next = yield* state;
    [this.indentNext, this.#block] = before;
    return next;
  }
}

/** The package's tokens. Its parser keeps open maps and lists on a stack, which has to stay small. */
function* tokensOf(text: string, lines: LineCounter): ReturnType<Parser['parse']> {
  const parser = new Parser(lines.addNewLine);
  const fail = (message: string, tooLarge: boolean): never => {
    throw new YamlError(message, lines.linePos(parser.offset - 1), tooLarge);
  };
  let aliases = 0;
  let [mark, before] = ['', ''];
  lines.addNewLine(0);
  const lexer = new KubernetesLexer();
  for (const lexeme of lexer.lex(text)) {
    yield* parser.next(lexeme);
    // the lexer marks scalars, of which a block scalar can begin with an asterisk
    if (lexeme.startsWith('*') && before !== '\u001f') aliases += 1;
    // the package takes an action of a template, such as "{{ .Values.name }}", for a map
    if (before === '{' && lexeme === '{') fail('a map cannot be a key', false);
    if (lexer.hasTabs) fail('a tab cannot indent a line', false);
    // to go-yaml, the colon behind a text without quotes is a part of the text
    const isTight = lexeme === ':' && mark === '\u001f' && /[[\]{},]/.test(text.charAt(parser.offset));
    if (isTight) fail('a space is missing after the colon of a key', false);
    // and a question mark in brackets or braces ends such a text
    const isCut = lexer.flowLevel > 0 && before === '\u001f' && lexeme.includes('?');
    if (isCut) fail('a text with a question mark in brackets or braces has to be in quotes', false);
    [mark, before] = [before, lexeme];
    if (aliases > mostAliases) fail(`more than ${mostAliases} aliases`, true);
    if (parser.stack.length > deepest) fail(`nested too deeply: more than ${deepest} levels`, true);
  }
  yield* parser.end();
}

function toValue(document: Document.Parsed, lines: LineCounter): Pick<YamlDocument, 'value' | 'shares'> {
  let shares = false;
  const onAnchor = (_: unknown, count: number): void => {
    shares ||= count > 1;
  };
  try {
    const value: unknown = document.toJS({ maxAliasCount: mostAliases, onAnchor });
    // a TypeError if a value contains itself
    if (shares) JSON.stringify(value);
    return { value, shares };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isMany = error instanceof RangeError || error.message.startsWith('Excessive alias count');
    const message = isMany
      ? 'the aliases stand for too many values, or for a map into which they are merged'
      : error instanceof TypeError
        ? 'an alias stands for a value that contains it'
        : error.message;
    const start = lines.linePos(document.contents?.range[0] ?? 0);
    throw new YamlError(message, start, isMany);
  }
}

/** The pair of a map with this key; of two, the last one, which counts. */
function pairAt(node: unknown, key: string | number): Pair<Node, Node | null> | undefined {
  if (!isMap<Node, Node | null>(node)) return undefined;
  return node.items.findLast((pair) => isScalar(pair.key) && String(pair.key.value) === String(key));
}

/** The node at a path; undefined if there is none, or if the path leads through an alias or a merge. */
export function nodeAt(root: Node | null, path: Path): Node | undefined {
  let node: unknown = root;
  for (const part of path) node = childOf(node, part);
  return isNode(node) && !isAlias(node) ? node : undefined;
}

/** The offset of the value at a path, or of the nearest parent. */
function offsetNear(root: Node | null, path: Path): number {
  let offset = root?.range?.[0] ?? 0;
  let node: unknown = root;
  for (const [index, part] of path.entries()) {
    const key = pairAt(node, part)?.key;
    node = childOf(node, part);
    // an object in a list begins at its first field
    const place = index === path.length - 1 && key !== undefined ? key : node;
    if (!isNode(place)) break;
    offset = place.range?.[0] ?? offset;
  }
  return offset;
}

/** The node at a key of a map or an index of a list. */
const childOf = (node: unknown, part: string | number): unknown =>
  isSeq(node) ? node.items[Number(part)] : pairAt(node, part)?.value;

/**
 * Makes a document ready for changes: aliases and merge keys become copies of what they stand for. A merged map loses its
 * comments.
 */
export function expandAliases(document: Document.Parsed): void {
  visit(document, {
    Alias: (_, alias) => {
      const copy = alias.resolve(document)?.clone() as Node | undefined;
      if (copy !== undefined && alias.comment) copy.commentBefore = alias.comment;
      return copy;
    },
  });
  visit(document, {
    Value: (_, node) => {
      delete node.anchor;
      // the package adds a line to a folded text with a line of spaces
      if (isScalar(node) && node.type === 'BLOCK_FOLDED' && /\n[ \t]+\n/.test(String(node.value))) {
        node.type = 'BLOCK_LITERAL';
      }
      if (!isMap(node)) return undefined;
      return node.items.some(({ key }) => isMergeKey(key)) ? nodeOf(node.toJS(document)) : undefined;
    },
  });
}

/** Whether a key is `<<` without quotes. */
const isMergeKey = (key: unknown): boolean => isScalar(key) && key.source === '<<' && key.type === 'PLAIN';

/** A node for a value. */
export const nodeOf = (value: unknown): Node =>
  new Document(value, { ...kubernetesYaml, aliasDuplicateObjects: false }).contents as Node;

/** How a text is laid out: whether lists are indented in maps, and whether there is a space inside braces. */
export const layoutOf = (text: string): ToStringOptions => ({
  indentSeq: !/^( *)[^\s#-][^\n]*:\r?\n\1- /m.test(text),
  flowCollectionPadding: /\{ +\S/.test(text),
});

/** YAML text of a document, node or value with its comments. */
export function writeYaml(yaml: unknown, layout: ToStringOptions = {}): string {
  const document = isDocument(yaml) ? yaml : new Document(null, kubernetesYaml);
  if (!isDocument(yaml)) document.contents = (isNode(yaml) ? yaml : nodeOf(yaml)) as typeof document.contents;
  // by default, long scalars are folded
  return document.toString({ lineWidth: 0, verifyAliasOrder: false, ...layout });
}
