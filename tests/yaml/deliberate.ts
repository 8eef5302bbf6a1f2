const each = (names: readonly string[], why: string): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, why]));

/** Where `review` reads what kubectl does not, refuses what it reads, or reads it otherwise, and why. Names are those of cases.ts. */
export const deliberate: Record<string, string> = {
  'yaml 1.1 directive': 'kubectl takes the line for a document; other tools read it, and it changes nothing',
  'yaml 1.2 directive': 'as with 1.1',
  'yaml 2.0 directive': 'as with 1.1',
  'unknown directive': 'as with 1.1',
  'end of document, then another':
    'kubectl leaves out what follows "..."; a pod there is better reviewed than not',
  'end of document first': 'as behind another document',
  'text behind brackets at the top':
    'kubectl leaves out what follows the value of a document, without a word',
  'quoted key without space in block style': 'as with brackets: kubectl reads the key alone',
  'JSON, then YAML without a marker':
    'kubectl changes from JSON to YAML in the middle; we ask for the marker',
  'byte order mark behind the first marker': 'kubectl makes it the first character of the key',
  'tabs only': 'there is nothing to review in it',
  ...each(
    [
      'double quotes, less indented than the key',
      'double quotes, at column 0',
      'single quotes, at column 0',
      'quotes in a list, at column 0',
      'quotes with escaped line ends',
      'quotes indented by a tab',
      'a script in double quotes',
      'a certificate in quotes',
    ],
    'the package refuses quotes that continue left of their key, as YAML 1.2 does',
  ),
  ...each(
    [
      'closing bracket at column 0',
      'closing brace at column 0',
      'all of a list at column 0',
      'closing bracket less indented',
      'tab in brackets',
      'arguments in brackets at column 0',
    ],
    'the same with brackets, and with tabs at the beginning of their lines',
  ),
  ...each(
    [
      'comment without space behind quotes',
      'comment right behind a comma',
      'comment right behind the header',
    ],
    'the package asks for a space before a comment, as every specification does',
  ),
  ...each(
    [
      'escapes',
      'surrogate as escape',
      'url in brackets',
      'null as a key',
      'empty key',
      'a list as a key',
      'a map as a key',
      'question mark with a list',
      'anchor with dots',
      'int tag on text',
      'null tag on text',
      'binary tag, not base64',
      'control character',
      'control character in quotes',
      'delete character',
      'form feed',
      'tab in a blank line',
      'tab in a blank line of a map',
      'tab before a comment on a line of its own',
      'infinity',
      'not a number',
    ],
    'kubectl refuses the text, so nothing can come of it',
  ),
  'plain dash in brackets': 'YAML allows no such text',
  'old macintosh line ends': 'nothing writes them since 2001',
  'adjacent value': '`d:` before a brace is a key in the package, and a text in kubectl',
  'question mark in brackets': 'as with the colon',
  'large and small keys': 'a number as a key has the spelling of JavaScript',
  'binary tag': 'it stays base64',
  'floats that Go knows': '`+_5` stays a text',
};
