import { deepest } from '../input/limits.ts';
import type { AliasNode, MapNode, ScalarNode, SeqNode, YamlNode, YamlPair } from './nodes.ts';
import { Scanner } from './scanner.ts';
import { type Token, type TokenKind, YamlError, YamlTooLarge } from './tokens.ts';

/**
 * Parses the first document of a text as Kubernetes' reader does, and ignores the text after its end.
 *
 * @param json whether the text is JSON, so that only the positions of its parts are needed
 * @returns its value, or undefined if there is no document
 * @throws YamlError if the text is not YAML, or nested too deeply
 */
export function parseDocument(text: string, json = false): YamlNode | undefined {
  return new Parser(text, json).document();
}

const standardPrefix = 'tag:yaml.org,2002:';

/** What can follow the value of a document. */
const afterDocument: ReadonlySet<TokenKind> = new Set(['directive', 'document-start', 'document-end', 'end']);

/** What may precede a node. */
interface Properties {
  anchor: string | undefined;
  tag: string | undefined;
}

class Parser {
  readonly #scanner: Scanner;
  readonly #anchors = new Map<string, YamlNode>();
  readonly #handles = new Map<string, string>();
  #depth = 0;

  constructor(text: string, json: boolean) {
    this.#scanner = new Scanner(text, json);
  }

  document(): YamlNode | undefined {
    const first = this.#peek();
    if (first.kind === 'end') return undefined;
    if (first.kind === 'directive' || first.kind === 'document-start') {
      this.#directives();
      const marker = this.#next();
      if (marker.kind !== 'document-start')
        throw new YamlError('expected "---" after the lines with "%"', marker.start);
      const content = this.#peek();
      if (afterDocument.has(content.kind)) return empty(content.start);
    }
    const root = this.#node(true);
    const { kind, start } = this.#peek();
    // Kubernetes' reader would silently ignore what follows
    if (!afterDocument.has(kind))
      throw new YamlError('the document ends before this: is a "---" missing?', start);
    return root;
  }

  #peek(): Token {
    return this.#scanner.peek();
  }

  #next(): Token {
    return this.#scanner.next();
  }

  #takes(kind: TokenKind): boolean {
    if (this.#peek().kind !== kind) return false;
    this.#next();
    return true;
  }

  #directives(): void {
    let version = false;
    for (let token = this.#peek(); token.kind === 'directive'; token = this.#peek()) {
      this.#next();
      const [handle = '', prefix = ''] = token.rest.split(/[ \t]+/);
      const repeated = token.value === 'YAML' ? version : this.#handles.has(handle);
      if (repeated) throw new YamlError(`a second %${token.value} directive`, token.start);
      if (token.value === 'TAG') this.#handles.set(handle, prefix);
      else if (token.rest !== '1.1')
        throw new YamlError(`Kubernetes reads YAML 1.1 only, not ${token.rest}`, token.start);
      else version = true;
    }
  }

  /**
   * @param block whether maps and lists without brackets are allowed here
   * @param indentless whether a list is allowed here in the column of its map
   */
  #node(block: boolean, indentless = false): YamlNode {
    if (this.#peek().kind === 'alias') return this.#alias();
    const properties = this.#properties();
    const token = this.#peek();
    const { kind, start } = token;
    if (kind === 'scalar') {
      this.#next();
      return this.#named({
        kind,
        ...properties,
        start,
        end: token.end,
        value: token.value,
        style: token.style,
      });
    }
    const seq = (): SeqNode => ({
      kind: 'seq',
      ...properties,
      start,
      end: start,
      flow: kind === 'flow-seq',
      items: [],
      dashes: [],
    });
    const map = (): MapNode => ({
      kind: 'map',
      ...properties,
      start,
      end: start,
      flow: kind === 'flow-map',
      pairs: [],
    });
    if (indentless && kind === 'block-entry') return this.#deeper(seq(), (node) => this.#indentlessSeq(node));
    if (kind === 'flow-seq') return this.#deeper(seq(), (node) => this.#flowSeq(node));
    if (kind === 'flow-map') return this.#deeper(map(), (node) => this.#flowMap(node));
    if (block && kind === 'block-seq') return this.#deeper(seq(), (node) => this.#blockSeq(node));
    if (block && kind === 'block-map') return this.#deeper(map(), (node) => this.#blockMap(node));
    if (properties.anchor !== undefined || properties.tag !== undefined) {
      return this.#named({ ...empty(start), ...properties });
    }
    throw new YamlError(unexpected(kind), start);
  }

  /** An alias inside its own anchor is accepted here, and reported when its value is built. */
  #named<T extends YamlNode>(node: T): T {
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    return node;
  }

  #deeper<T extends YamlNode>(node: T, fill: (node: T) => void): T {
    this.#depth += 1;
    if (this.#depth > deepest)
      throw new YamlTooLarge(`nested too deeply: more than ${deepest} levels`, node.start);
    fill(this.#named(node));
    this.#depth -= 1;
    return node;
  }

  #alias(): AliasNode {
    const { value: name, start, end } = this.#next();
    const target = this.#anchors.get(name);
    if (target === undefined) throw new YamlError(`no anchor above is &${name}`, start);
    return { kind: 'alias', name, target, start, end, anchor: undefined, tag: undefined };
  }

  #properties(): Properties {
    const properties: Properties = { anchor: undefined, tag: undefined };
    for (let left = 2; left > 0; left -= 1) {
      const token = this.#peek();
      if (token.kind === 'anchor' && properties.anchor === undefined) properties.anchor = token.value;
      else if (token.kind === 'tag' && properties.tag === undefined) properties.tag = this.#tagOf(token);
      else break;
      this.#next();
    }
    return properties;
  }

  #tagOf({ value: handle, rest, start }: Token): string {
    if (handle === '') return rest;
    const prefix =
      this.#handles.get(handle) ?? (handle === '!' ? '!' : handle === '!!' ? standardPrefix : undefined);
    if (prefix === undefined) throw new YamlError(`no %TAG line defines the tag ${handle}`, start);
    return prefix + rest;
  }

  #blockSeq(node: SeqNode): void {
    this.#next();
    while (this.#item(node, ['block-end']));
    const token = this.#next();
    if (token.kind !== 'block-end')
      throw new YamlError('expected "- " in the column of the list, or less indentation', token.start);
  }

  #indentlessSeq(node: SeqNode): void {
    while (this.#item(node, ['block-end', 'key', 'value']));
  }

  /** @param ends the tokens that may follow a dash without a value, besides another dash */
  #item(node: SeqNode, ends: TokenKind[]): boolean {
    const token = this.#peek();
    if (token.kind !== 'block-entry') return false;
    this.#next();
    const { kind } = this.#peek();
    const item = kind === 'block-entry' || ends.includes(kind) ? empty(token.end) : this.#node(true);
    node.items.push(item);
    node.dashes.push(token.start);
    node.end = Math.max(token.end, item.end);
    return true;
  }

  #blockMap(node: MapNode): void {
    this.#next();
    for (;;) {
      const token = this.#next();
      if (token.kind === 'block-end') return;
      if (token.kind !== 'key')
        throw new YamlError('expected a key in the column of the keys above', token.start);
      const key = this.#blockPart(token.end);
      const pair = this.#pair(key, () => this.#blockPart(key.end));
      node.pairs.push(pair);
      node.end = endOfPair(pair);
    }
  }

  #blockPart(end: number): YamlNode {
    const { kind } = this.#peek();
    return kind === 'key' || kind === 'value' || kind === 'block-end' ? empty(end) : this.#node(true, true);
  }

  /** A pair, once its key is known. */
  #pair(key: YamlNode, value: () => YamlNode): YamlPair {
    const { kind, end } = this.#peek();
    if (kind !== 'value') return { key, colon: undefined, value: empty(key.end) };
    this.#next();
    const node = value();
    return { key, colon: end, value: isWritten(node) ? node : { ...node, start: end, end } };
  }

  #flowSeq(node: SeqNode): void {
    this.#flow(node, 'flow-seq-end', (token) => {
      if (token.kind !== 'key') return void node.items.push(this.#node(false));
      // a pair in brackets is a separate map
      const pair = this.#flowPair('flow-seq-end');
      const map: MapNode = {
        kind: 'map',
        start: token.start,
        end: endOfPair(pair),
        anchor: undefined,
        tag: undefined,
        flow: true,
        pairs: [pair],
      };
      node.items.push(map);
    });
  }

  #flowMap(node: MapNode): void {
    this.#flow(node, 'flow-map-end', (token) => {
      if (token.kind === 'key') return void node.pairs.push(this.#flowPair('flow-map-end'));
      const key = this.#node(false);
      node.pairs.push({ key, colon: undefined, value: empty(key.end) });
    });
  }

  #flow(node: SeqNode | MapNode, end: TokenKind, entry: (token: Token) => void): void {
    this.#next();
    for (let first = true; this.#peek().kind !== end; first = false) {
      if (!first && !this.#takes('flow-entry')) {
        const bracket = end === 'flow-map-end' ? '}' : ']';
        throw new YamlError(`expected "," or "${bracket}" here`, this.#peek().start);
      }
      if (this.#peek().kind === end) break;
      entry(this.#peek());
    }
    node.end = this.#next().end;
  }

  #flowPair(end: TokenKind): YamlPair {
    const { end: mark } = this.#next();
    const part = (): YamlNode => {
      const { kind } = this.#peek();
      return kind === 'flow-entry' || kind === end ? empty(mark) : this.#node(false);
    };
    const key = this.#peek().kind === 'value' ? empty(mark) : part();
    return this.#pair(key, part);
  }
}

const isWritten = (node: YamlNode): boolean =>
  node.kind !== 'scalar' || node.style !== 'empty' || node.anchor !== undefined || node.tag !== undefined;

const endOfPair = ({ value, colon, key }: YamlPair): number => Math.max(value.end, colon ?? key.end);

const empty = (at: number): ScalarNode => ({
  kind: 'scalar',
  start: at,
  end: at,
  anchor: undefined,
  tag: undefined,
  value: '',
  style: 'empty',
});

function unexpected(kind: TokenKind): string {
  if (kind === 'end') return 'expected a value before the end of the document';
  if (kind === 'flow-seq-end' || kind === 'flow-map-end')
    return 'this bracket closes nothing, or a value is missing before it';
  if (kind === 'flow-entry') return 'expected a value before the ","';
  if (kind === 'block-entry') return 'a list with dashes is not allowed here';
  return 'expected a value here';
}
