const mark = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/gs;

/**
 * Splits consecutive JSON values, with or without space between them. It follows only brackets and strings:
 * `JSON.parse` decides whether a part is JSON.
 *
 * @returns the offset of each value and of the end, or undefined if something else is between values
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

/** Start and end of a part of a text. */
export interface Range {
  start: number;
  end: number;
}

/** The positions of the objects in a JSON list, or in the `items` of a JSON object. */
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
