import { CannotEdit, type Edit, type Source } from './source.ts';

/** Start and end of an entry of a list or map. */
interface Entry {
  start: number;
  end: number;
}

/** The text between two brackets: entries, commas and comments, and their layout. */
export class FlowText {
  readonly #source: Source;
  readonly #entries: readonly Entry[];
  readonly #close: number;
  /** Whether each entry has its own line; added entries then do too. */
  readonly #lines: boolean;
  readonly #pad: string;

  /** @param close the offset of the closing bracket */
  constructor(source: Source, entries: readonly Entry[], close: number) {
    this.#source = source;
    this.#entries = entries;
    this.#close = close;
    const { start } = this.#entry(0);
    this.#lines = source.isFirstInLine(start);
    this.#pad = this.#lines ? ' '.repeat(source.column(start)) : '';
  }

  /** A value as JSON, on one line or several, like the entries. */
  readonly json = (value: unknown): string => {
    if (!this.#lines) return JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ');
    const step = /\n( +)/.exec(this.#source.text)?.[1] ?? '  ';
    return JSON.stringify(value, null, step).replaceAll('\n', this.#source.eol + this.#pad);
  };

  /** Replaces all entries. */
  replaceAll(texts: readonly string[]): Edit {
    const end = this.#entry(this.#entries.length - 1).end;
    return { start: this.#entry(0).start, end, text: texts.join(this.#separator) };
  }

  /** Adds entries before another and the comments above it. */
  insert(texts: readonly string[], before: number): Edit[] {
    if (texts.length === 0) return [];
    const { start } = this.#entry(before);
    if (!this.#lines || !this.#source.isFirstInLine(start)) {
      return [insertion(start, texts.map((text) => text + this.#separator).join(''))];
    }
    const bound = before === 0 ? 0 : this.#source.nextLine(this.#entry(before - 1).end);
    const at = this.#source.commentsAbove(start, bound);
    return [insertion(at, texts.map((text) => `${this.#pad}${text},${this.#source.eol}`).join(''))];
  }

  /** Adds entries after the last one that stays and the comments after it. */
  append(texts: readonly string[], removed: readonly number[]): Edit[] {
    if (texts.length === 0) return [];
    const last = this.#lastBut(removed);
    const { end } = this.#entry(last);
    if (!this.#lines || last < this.#entries.length - 1 || !this.#source.isFirstInLine(this.#close)) {
      return [insertion(end, texts.map((text) => this.#separator + text).join(''))];
    }
    const comma = this.#commaBehind(last) !== undefined;
    const lines = texts.map((text) => this.#pad + text).join(`,${this.#source.eol}`);
    const added = insertion(
      this.#source.lineStart(this.#close),
      `${lines}${comma ? ',' : ''}${this.#source.eol}`,
    );
    return comma ? [added] : [insertion(end, ','), added];
  }

  /** Removes entries with their commas. */
  remove(removed: readonly number[]): Edit[] {
    if (removed.length === 0) return [];
    const last = this.#lastBut(removed);
    const edits = removed.map((index) => this.#removal(index));
    // the last remaining entry keeps its comma only if the last entry had one
    const comma = this.#commaBehind(last);
    const all = this.#entries.length - 1;
    if (last < all && comma !== undefined && this.#commaBehind(all) === undefined) {
      edits.push({ start: comma, end: comma + 1, text: '' });
    }
    return edits;
  }

  #removal(index: number): Edit {
    const { start, end } = this.#entry(index);
    const comma = this.#commaBehind(index);
    // a comment between an entry and its comma would move to another line
    if (comma !== undefined && this.#source.text.slice(end, comma).trim() !== '') {
      throw new CannotEdit('a comment stands before a comma');
    }
    const behind = comma === undefined ? end : comma + 1;
    const { text } = this.#source;
    const line = this.#source.nextLine(behind);
    if (text.slice(behind, line).trim() === '') {
      if (this.#source.isFirstInLine(start))
        return { start: this.#source.lineStart(start), end: line, text: '' };
      // the spaces before it are removed too
      const front = text.slice(0, start).trimEnd().length;
      return { start: front, end: behind, text: '' };
    }
    const spaces = /^[ \t]*/.exec(text.slice(behind, line))?.[0].length ?? 0;
    const isLast = index === this.#entries.length - 1;
    const front = isLast ? (/[ \t]*$/.exec(text.slice(0, start))?.[0].length ?? 0) : 0;
    return { start: start - front, end: isLast ? behind : behind + spaces, text: '' };
  }

  /** The offset of the comma after an entry. */
  #commaBehind(index: number): number | undefined {
    const until = this.#entries[index + 1]?.start ?? this.#close;
    const { end } = this.#entry(index);
    const match = /^(?:[^,#]|#[^\n]*)*?,/.exec(this.#source.text.slice(end, until));
    return match === null ? undefined : end + match[0].length - 1;
  }

  #lastBut(removed: readonly number[]): number {
    const gone = new Set(removed);
    const last = [...this.#entries.keys()].findLast((index) => !gone.has(index));
    if (last === undefined) throw new CannotEdit('no entry stays');
    return last;
  }

  #entry(index: number): Entry {
    const entry = this.#entries[index];
    if (entry === undefined) throw new CannotEdit('the brackets are empty');
    return entry;
  }

  get #separator(): string {
    return this.#lines ? `,${this.#source.eol}${this.#pad}` : ', ';
  }
}

const insertion = (at: number, text: string): Edit => ({ start: at, end: at, text });
