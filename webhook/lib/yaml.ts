import {
  Composer,
  Document,
  type ErrorCode,
  isAlias,
  isDocument,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  Parser,
  stringify,
  visit,
} from 'yaml';
import { kubernetesYaml, writing } from './yaml-schema.ts';

/** A text that is not YAML, or that exceeds a limit. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
  /** Its offset in the text. */
  readonly offset: number;
  /** Whether it exceeds a limit. */
  readonly tooLarge: boolean;

  constructor(message: string, offset: number, tooLarge = false) {
    super(message);
    this.offset = offset;
    this.tooLarge = tooLarge;
  }
}

/** A document with the positions of its parts. */
export type YamlDocument = Document.Parsed;

/** The maximum nesting of maps and lists: the package composes a document recursively. */
const deepest = 200;
/** The maximum number of aliases in a document: the package searches each one's anchor. */
const mostAliases = 1000;
/** The maximum number of characters of a document as JSON, with its aliases expanded. */
const mostByAliases = 8 * 2 ** 20;

/** Texts for frequent errors, where the package uses words of YAML's specification. */
const messages: Partial<Record<ErrorCode, string>> = {
  BLOCK_AS_IMPLICIT_KEY:
    'a second ":" in this line, or a line that is not indented as the others: put text in quotes',
  TAB_AS_INDENT: 'a tab is not allowed here: YAML is indented with spaces',
};

/**
 * Parses YAML with the rules of Kubernetes' reader (see `yaml-schema.ts`).
 *
 * @param options other rules, such as those of the configuration
 * @throws YamlError
 */
export function parseYaml(text: string, options = kubernetesYaml): YamlDocument[] {
  const composer = new Composer<YamlDocument['contents'] & Node>(options);
  const documents = [...composer.compose(tokensOf(text), false, text.length)];
  for (const { errors } of documents) {
    const [first] = errors;
    if (first !== undefined) throw new YamlError(messages[first.code] ?? first.message, first.pos[0]);
  }
  return documents as YamlDocument[];
}

/** The package's tokens. Its parser keeps open maps and lists on a stack, which has to stay small. */
function* tokensOf(text: string): ReturnType<Parser['parse']> {
  const parser = new Parser();
  let aliases = 0;
  let before = '';
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    // the lexer marks scalars, of which a block scalar can begin with an asterisk
    if (lexeme.startsWith('*') && before !== '\u001f') aliases += 1;
    // the package takes an action of a template, such as "{{ .Values.name }}", for a map
    if (before === '{' && lexeme === '{') throw new YamlError('a map cannot be a key', parser.offset - 2);
    before = lexeme;
    if (aliases > mostAliases) throw new YamlError(`more than ${mostAliases} aliases`, parser.offset, true);
    if (parser.stack.length > deepest) {
      throw new YamlError(`nested too deeply: more than ${deepest} levels`, parser.offset, true);
    }
  }
  yield* parser.end();
}

/**
 * The value of a document as JSON would have it; aliases share values.
 *
 * @throws YamlError for aliases that cannot be resolved, or expand too much
 */
export function valueOfYaml(document: YamlDocument): unknown {
  let shares = false;
  const onAnchor = (_: unknown, count: number): void => {
    shares ||= count > 1;
  };
  const offset = document.contents?.range[0] ?? 0;
  try {
    const value: unknown = document.toJS({ maxAliasCount: mostAliases, onAnchor });
    if (!shares || JSON.stringify(value).length <= mostByAliases) return value;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // an alias of what contains it, or a text that is too long for a string, is a RangeError
    const tooLarge = error instanceof RangeError || error.message.startsWith('Excessive alias count');
    if (!tooLarge) throw new YamlError(error.message, offset);
  }
  throw new YamlError(`aliases expand to more than ${mostByAliases} characters`, offset, true);
}

/** Keys and indexes from a value to one inside it. */
type Path = readonly (string | number)[];

/** The pair of a map with this key; of two, the last one, which counts. */
export function pairAt(node: unknown, key: string | number): Pair<Node, Node | null> | undefined {
  if (!isMap<Node, Node | null>(node)) return undefined;
  return node.items.findLast((pair) => isScalar(pair.key) && String(pair.key.value) === String(key));
}

/** The node at a path; undefined if there is none, or if the path leads through an alias or a merge. */
export function nodeAt(root: Node | null, path: Path): Node | undefined {
  let node: unknown = root;
  for (const part of path) node = childOf(node, part);
  return isNode(node) && !isAlias(node) ? node : undefined;
}

/** The offset of the value at a path, or of the nearest parent. The position of a field is that of its key. */
export function offsetNear(root: Node | null, path: Path): number {
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
export function childOf(node: unknown, part: string | number): unknown {
  return isSeq(node) ? node.items[Number(part)] : pairAt(node, part)?.value;
}

/** Line and column of an offset of a text, from 1. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** YAML text of a value, with a newline at the end. */
export const writeYaml = (value: unknown): string => stringify(value, writing);

/** Replaces aliases and merge keys in a document by copies of what they stand for. A merged map loses its comments. */
export function expandAliases(document: YamlDocument): void {
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
      return isMap(node) && node.items.some(({ key }) => isMergeKey(key))
        ? (nodeOf(node.toJS(document)) ?? undefined)
        : undefined;
    },
    Scalar: (_, node) => {
      // what is left is a text: without a tag, the package would write it as a merge key
      if (node.value === '<<') node.tag = textTag;
    },
  });
}

const textTag = 'tag:yaml.org,2002:str';

/** Whether a key is `<<` without quotes. */
const isMergeKey = (key: unknown): boolean => isScalar(key) && key.source === '<<' && key.type === 'PLAIN';

/** A node for a value. Parsed from text, so that it is written as {@link writeYaml} does. */
export const nodeOf = (value: unknown): Node | null => parseYaml(writeYaml(value))[0]?.contents ?? null;

/**
 * YAML text of a document or a node with its comments, in the layout of a text: whether lists are indented in maps, and whether there
 * is a space inside braces.
 */
export function textOfYaml(yaml: YamlDocument | Node | null, layout: string): string {
  const document = isDocument(yaml) ? yaml : new Document(null, kubernetesYaml);
  if (!isDocument(yaml)) document.contents = yaml as typeof document.contents;
  return document.toString({
    lineWidth: writing.lineWidth,
    verifyAliasOrder: false,
    indentSeq: !/^( *)[^\s#-][^\n]*:\r?\n\1- /m.test(layout),
    flowCollectionPadding: /\{ +\S/.test(layout),
  });
}
