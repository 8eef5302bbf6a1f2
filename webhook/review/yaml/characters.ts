/** The characters that YAML 1.1 distinguishes, by their UTF-16 codes. After the end of a text the code is NaN. */

/** Line feed. */
export const newline = 0x0a;
/** Carriage return. */
export const carriageReturn = 0x0d;
/** Space. */
export const space = 0x20;
/** Tab. */
export const tab = 0x09;
/** Byte order mark. */
export const byteOrderMark = 0xfeff;

/** Line ends: \n, \r and the three of Unicode (YAML 1.1, 4.2). */
export const isBreak = (code: number): boolean =>
  code === newline || code === carriageReturn || code === 0x85 || code === 0x2028 || code === 0x2029;

/** A space or a tab. */
export const isBlank = (code: number): boolean => code === space || code === tab;

/** The end of a line or of the text. */
export const isBreakOrEnd = (code: number): boolean => isBreak(code) || Number.isNaN(code);

/** White space or the end of the text. */
export const isSpaceOrEnd = (code: number): boolean => isBlank(code) || isBreakOrEnd(code);

/** A digit of ASCII. */
export const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** The characters of anchors, tag handles and names of directives. */
export const isWord = (code: number): boolean =>
  isDigit(code) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x5f ||
  code === 0x2d;

/** The first character that YAML 1.1 does not allow (4.1): control characters, but for the ends of lines. */
export const forbidden = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
