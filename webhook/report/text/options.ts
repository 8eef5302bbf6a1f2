/** How a text looks. */
export interface TextOptions {
  /** Characters of a line; absent: without a limit, so that each row of a table is one line. */
  width?: number;
  /** Sets a text off; absent: where there are no colours. */
  paint?: Paint;
}

/** Sets a text off by a style that `styleText` of node:util knows. */
export type Paint = (style: 'bold' | 'dim' | 'red' | 'yellow' | 'green', text: string) => string;

/** Without colours. */
export const plain: Paint = (_style, text) => text;
