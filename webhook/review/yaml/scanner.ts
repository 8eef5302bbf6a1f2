import { forbidden, isBreak, isSpaceOrEnd, space, tab } from './characters.ts';
import { Cursor } from './cursor.ts';
import { scanBlock } from './scan-block.ts';
import { scanAnchor, scanDirective, scanTag } from './scan-names.ts';
import { scanPlain } from './scan-plain.ts';
import { scanQuoted } from './scan-quoted.ts';
import { type Token, type TokenKind, YamlError } from './tokens.ts';

/** The possible beginning of a key. The colon after it decides, or a position where no colon can follow. */
interface PossibleKey {
  /** The number of its first token. */
  token: number;
  /** Whether only a key is possible, because the map's other keys are in the same column. */
  required: boolean;
  start: number;
  column: number;
  line: number;
}

/** A key is on one line, with its colon at most this many characters after its beginning (YAML 1.1, 7.3). */
const longestKey = 1024;

/** Characters that begin another token, so that no plain scalar begins with them. */
const indicators = new Set('-?:,[]{}#&*!|>\'"%@`');

/**
 * Splits a YAML text into tokens on demand, so that it does not read beyond the document. The rules are those of YAML
 * 1.1 in Kubernetes' reader (sigs.k8s.io/yaml on go.yaml.in/yaml/v2), which accepts more than the specification: see
 * docs/decisions/yaml-parser.md.
 */
export class Scanner {
  readonly #cursor: Cursor;
  readonly #json: boolean;
  readonly #queue: Token[] = [];
  /** The number of tokens removed from the queue. */
  #taken = 0;
  #ended = false;
  /** The columns of the innermost block map or list and its parents. */
  #indent = -1;
  readonly #indents: number[] = [];
  /** The possible key of the block context, and of each open bracket. */
  readonly #keys: (PossibleKey | undefined)[] = [undefined];
  readonly #keysByToken = new Map<number, PossibleKey>();
  #keyAllowed = true;
  #doubleBrace: number | undefined;

  /**
   * @param json whether the text is JSON, which allows some characters, escapes and lengths that YAML does not
   * @throws YamlError for a control character anywhere
   */
  constructor(text: string, json = false) {
    this.#json = json;
    const control = json ? null : forbidden.exec(text);
    if (control !== null) {
      const code = control[0].codePointAt(0)?.toString(16).padStart(4, '0');
      throw new YamlError(`the control character U+${code} is not allowed in YAML`, control.index);
    }
    this.#cursor = new Cursor(text);
  }

  /** The next token, without removing it. At the end of the text it is always `end`. */
  peek(): Token {
    for (;;) {
      const [head] = this.#queue;
      // a key and its map come before their text, so wait until it is known whether it is a key
      if (head !== undefined && !this.#mayBeKey(this.#keysByToken.get(this.#taken))) return head;
      this.#fetch();
    }
  }

  next(): Token {
    const token = this.peek();
    if (token.kind !== 'end') {
      this.#queue.shift();
      this.#taken += 1;
    }
    return token;
  }

  /** The first `{{` or `{%` outside of scalars in the scanned text. */
  get doubleBrace(): number | undefined {
    return this.#doubleBrace;
  }

  get #inFlow(): boolean {
    return this.#keys.length > 1;
  }

  #fetch(): void {
    const cursor = this.#cursor;
    if (this.#ended) return;
    this.#toNextToken();
    this.#unroll(cursor.column);
    if (cursor.at >= cursor.text.length) this.#end();
    else this.#scan(cursor.char(), isSpaceOrEnd(cursor.code(1)));
  }

  /** @param spaced whether white space follows the character */
  #scan(char: string, spaced: boolean): void {
    const cursor = this.#cursor;
    // the remaining "-", "?" and ":" are followed by text
    const beginsText = char === '-' || (!this.#inFlow && (char === '?' || char === ':'));
    if (cursor.column === 0 && char === '%') this.#directive();
    else if (cursor.atMarker()) this.#marker(char === '-' ? 'document-start' : 'document-end');
    else if (char === '[') this.#open('flow-seq');
    else if (char === '{') this.#open('flow-map');
    else if (char === ']') this.#close('flow-seq-end');
    else if (char === '}') this.#close('flow-map-end');
    else if (char === ',') this.#flowEntry();
    else if (char === '-' && spaced) this.#blockEntry();
    else if (char === '?' && (this.#inFlow || spaced)) this.#key();
    else if (char === ':' && (this.#inFlow || spaced)) this.#value();
    else if (char === '*' || char === '&') this.#anchor(char === '*' ? 'alias' : 'anchor');
    else if (char === '!') this.#tag();
    else if ((char === '|' || char === '>') && !this.#inFlow) this.#block(char === '|');
    else if (char === '"' || char === "'") this.#quoted(char === '"');
    else if (beginsText || !(indicators.has(char) || char === '\t')) this.#plain();
    else throw new YamlError(cannotBegin(char), cursor.at);
  }

  /** Skips white space, comments and line ends. */
  #toNextToken(): void {
    const cursor = this.#cursor;
    for (;;) {
      // it is not part of the text only before the document
      if (this.#taken + this.#queue.length === 0) cursor.byteOrderMark();
      // where a key is possible, a tab would be indentation
      const tabs = this.#inFlow || !this.#keyAllowed;
      for (let code = cursor.code(); code === space || (tabs && code === tab); code = cursor.code()) {
        cursor.at += 1;
      }
      cursor.comment();
      if (!isBreak(cursor.code())) return;
      cursor.lineBreak();
      if (!this.#inFlow) this.#keyAllowed = true;
    }
  }

  #push(kind: TokenKind, start: number, more: Partial<Token> = {}): void {
    this.#queue.push(tokenOf(kind, start, this.#cursor.at, more));
  }

  /** Reads a token of this many characters. */
  #take(kind: TokenKind, length: number): void {
    const start = this.#cursor.at;
    this.#cursor.at += length;
    this.#push(kind, start);
  }

  #end(): void {
    // no key is on the line after the last one
    this.#cursor.line += 1;
    this.#unroll(-1);
    this.#forgetKey();
    this.#ended = true;
    this.#push('end', this.#cursor.at);
  }

  #directive(): void {
    this.#unroll(-1);
    this.#forgetKey();
    this.#keyAllowed = false;
    const start = this.#cursor.at;
    const { name, value } = scanDirective(this.#cursor);
    this.#push('directive', start, { value: name, rest: value });
  }

  #marker(kind: TokenKind): void {
    this.#unroll(-1);
    this.#forgetKey();
    this.#keyAllowed = false;
    this.#take(kind, 3);
  }

  #open(kind: TokenKind): void {
    this.#rememberKey();
    if (/^\{[{%]/.test(this.#cursor.text.slice(this.#cursor.at, this.#cursor.at + 2))) {
      this.#doubleBrace ??= this.#cursor.at;
    }
    this.#keys.push(undefined);
    this.#keyAllowed = true;
    this.#take(kind, 1);
  }

  #close(kind: TokenKind): void {
    this.#forgetKey();
    if (this.#keys.length > 1) this.#keys.pop();
    this.#keyAllowed = false;
    this.#take(kind, 1);
  }

  #flowEntry(): void {
    this.#forgetKey();
    this.#keyAllowed = true;
    this.#take('flow-entry', 1);
  }

  #blockEntry(): void {
    if (!this.#inFlow) {
      if (!this.#keyAllowed) throw new YamlError('a list must begin on its own line', this.#cursor.at);
      this.#roll('block-seq', this.#cursor.column, this.#cursor.at);
    }
    this.#forgetKey();
    this.#keyAllowed = true;
    this.#take('block-entry', 1);
  }

  #key(): void {
    this.#rollMap('a key that begins with "?" must be on its own line');
    this.#forgetKey();
    this.#keyAllowed = !this.#inFlow;
    this.#take('key', 1);
  }

  #value(): void {
    const key = this.#keys.at(-1);
    if (key !== undefined && this.#mayBeKey(key)) {
      const place = key.token - this.#taken;
      this.#queue.splice(place, 0, tokenOf('key', key.start, key.start));
      this.#roll('block-map', key.column, key.start, place);
      this.#drop();
      this.#keyAllowed = false;
    } else {
      this.#rollMap('a second ":" in this line: put the text in quotes, or is a line end missing?');
      this.#keyAllowed = !this.#inFlow;
    }
    this.#take('value', 1);
  }

  #anchor(kind: TokenKind): void {
    this.#rememberKey();
    this.#keyAllowed = false;
    const start = this.#cursor.at;
    this.#push(kind, start, { value: scanAnchor(this.#cursor) });
  }

  #tag(): void {
    this.#rememberKey();
    this.#keyAllowed = false;
    const start = this.#cursor.at;
    const { handle, suffix } = scanTag(this.#cursor);
    this.#push('tag', start, { value: handle, rest: suffix });
  }

  #block(literal: boolean): void {
    this.#forgetKey();
    this.#keyAllowed = true;
    const start = this.#cursor.at;
    const { value, end } = scanBlock(this.#cursor, this.#indent);
    this.#queue.push(tokenOf('scalar', start, end, { value, style: literal ? 'literal' : 'folded' }));
  }

  #quoted(double: boolean): void {
    this.#rememberKey();
    this.#keyAllowed = false;
    const start = this.#cursor.at;
    const value = scanQuoted(this.#cursor, this.#json);
    this.#push('scalar', start, { value, style: double ? 'double' : 'single' });
  }

  #plain(): void {
    this.#rememberKey();
    this.#keyAllowed = false;
    const start = this.#cursor.at;
    const { value, end, lineEnded } = scanPlain(this.#cursor, this.#inFlow, this.#indent + 1);
    if (lineEnded) this.#keyAllowed = true;
    this.#queue.push(tokenOf('scalar', start, end, { value, style: 'plain' }));
  }

  /** Begins a block map or list if the column is deeper than that of its parent. */
  #roll(kind: TokenKind, column: number, start: number, place = this.#queue.length): void {
    if (this.#inFlow || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    this.#queue.splice(place, 0, tokenOf(kind, start, start));
  }

  #rollMap(otherwise: string): void {
    if (this.#inFlow) return;
    if (!this.#keyAllowed) throw new YamlError(otherwise, this.#cursor.at);
    this.#roll('block-map', this.#cursor.column, this.#cursor.at);
  }

  /** Ends block maps and lists that are deeper than a column. */
  #unroll(column: number): void {
    if (this.#inFlow) return;
    while (this.#indent > column) {
      this.#push('block-end', this.#cursor.at);
      this.#indent = this.#indents.pop() ?? -1;
    }
  }

  #rememberKey(): void {
    if (!this.#keyAllowed) return;
    this.#forgetKey();
    const { at, column, line } = this.#cursor;
    const required = !this.#inFlow && this.#indent === column;
    const token = this.#taken + this.#queue.length;
    const key = { token, required, start: at, column, line };
    this.#keys[this.#keys.length - 1] = key;
    this.#keysByToken.set(token, key);
  }

  #forgetKey(): void {
    const key = this.#keys.at(-1);
    if (key?.required) throw noColon(key);
    this.#drop();
  }

  #drop(): void {
    const key = this.#keys.at(-1);
    if (key !== undefined) this.#keysByToken.delete(key.token);
    this.#keys[this.#keys.length - 1] = undefined;
  }

  #mayBeKey(key: PossibleKey | undefined): boolean {
    if (key === undefined) return false;
    const { line, at } = this.#cursor;
    if (key.line === line && (this.#json || at <= key.start + longestKey)) return true;
    if (key.required) throw noColon(key);
    return false;
  }
}

function tokenOf(kind: TokenKind, start: number, end: number, more: Partial<Token> = {}): Token {
  return { kind, start, end, value: more.value ?? '', rest: more.rest ?? '', style: more.style ?? 'plain' };
}

const noColon = (key: PossibleKey): YamlError =>
  new YamlError('expected a key with ":" after it, in the column of the keys above', key.start);

function cannotBegin(char: string): string {
  if (char === '\t') return 'a tab is not allowed here: YAML is indented with spaces';
  return `a text cannot begin with ${char === '"' ? "'\"'" : `"${char}"`} unless it is in quotes`;
}
