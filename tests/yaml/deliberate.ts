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
};
