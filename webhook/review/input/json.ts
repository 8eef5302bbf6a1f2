const mark = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/gs;

/**
 * Cuts JSON values that stand one after another, with or without space between. Only brackets and strings are
 * looked at: whether a piece is JSON is for `JSON.parse` to say.
 *
 * @returns the offset of each value and of the end, or undefined where something else stands between values
 */
export function cutValues(text: string): number[] | undefined {
  const cuts: number[] = [];
  let depth = 0;
  let end = 0;
  for (const match of text.matchAll(mark)) {
    const [token] = match;
    const opens = token === '{' || token === '[';
    if (depth === 0) {
      if (!opens || text.slice(end, match.index).trim() !== '') return undefined;
      cuts.push(match.index);
    }
    if (opens) depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    end = match.index + token.length;
  }
  if (depth === 0 && text.slice(end).trim() !== '') return undefined;
  return [...cuts, text.length];
}

/** Where something begins in a text, and where it ends. */
export interface Range {
  start: number;
  end: number;
}

/** The places of the objects in a JSON list, or in the `items` of a JSON object. */
export function itemRanges(text: string): Range[] {
  const ranges: Range[] = [];
  const open: string[] = [];
  let key = '';
  let last = '';
  let start = 0;
  const amongItems = (): boolean =>
    open[0] === '[' ? open.length === 1 : open.length === 2 && open[1] === '[' && key === '"items"';
  for (const { 0: token, index } of text.matchAll(mark)) {
    if (token === ':' && open.length === 1) key = last;
    if (token.startsWith('"')) last = token;
    if (token === '{' || token === '[') {
      if (token === '{' && amongItems()) start = index;
      open.push(token);
    }
    if (token === '}' || token === ']') {
      open.pop();
      if (token === '}' && amongItems()) ranges.push({ start, end: index + 1 });
    }
  }
  return ranges;
}
