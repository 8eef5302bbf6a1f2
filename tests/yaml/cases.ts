/** Texts that `review` and kubectl read in the same way, by name. Each is a stream of one or more documents. */
export const cases: Record<string, string> = {
  // quotes
  'quoted keys without space behind the colon': '{"a":1,"b":"c"}\n',
  'unterminated double quotes': 'a: "b\nc: d\n',
  'quotes at column 0': 'a:\n  b: "one\ntwo\n\nthree"\nc: 1\n',
  'a script in double quotes': 'data:\n    run: "#!/bin/sh\nset -e\n"\n',
  'JSON in quotes that close at the column of the key': 'spec:\n  config: \'{\n    "a": 1\n  }\'\nb: 2\n',

  // brackets and braces
  'question marks': 'a?: b?\n"c?": {d: "e?"}\n',
  'braces around a document': '{\n  a: 1,\n  b: [x, y],\n}\n',
  'braces of JSON with comments': '{\n  "a": 1, # one\n  "b": 2\n}\n',
  'tab behind a plain scalar': 'a:\n  b: [one\n\t, two]\n',
  'tab in braces': '{\n\t"a": 1,\n\t"b": {\n\t\t"c": 2\n\t}\n}\n',

  // keys
  'repeated key': 'a: 1\nb: 2\na: 3\n',
  'repeated key in braces': 'a: {b: 1, b: 2}\n',
  'keys of other types': '1: a\ntrue: b\n1.5: c\n0x10: d\nyes: e\n',
  'two colons in a line': 'a: b: c\n',
  __proto__: '__proto__: {a: 1}\nconstructor: b\n',

  // merges and aliases
  'merge before': 'x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3\n',
  'merge of a list': 'x: &x {a: 1}\nz: &z {a: 2, c: 3}\ny: {<<: [*x, *z], d: 4}\n',
  'merge of a map in place': 'y:\n  <<: {a: 1}\n  b: 2\n',
  'merge of a scalar': 'y:\n  <<: 1\n',
  'merge of null': 'y:\n  <<:\n  a: 1\n',
  'merge in a merge': 'x: &x {a: 1}\nz: &z {<<: *x, b: 2}\ny: {<<: *z, c: 3}\n',
  'quoted merge key': 'x: &x {a: 1}\ny:\n  "<<": *x\n',
  alias: 'x: &x [1, 2]\ny: *x\n',
  'alias in a list': 'x: &x a\ny:\n  - *x\n  - *x\n',
  'alias of nothing': 'a: *b\n',

  // tags
  'str tag': 'a: !!str 5\nb: !!str\nc: !!str yes\n',

  // directives, markers, comments
  'comment only': '# nothing\n',
  'two documents': 'a: 1\n---\nb: 2\n',
  'marker with a comment': '--- # first\na: 1\n--- # second\nb: 2\n',
  'marker with spaces behind': '---  \na: 1\n---\t\nb: 2\n',
  'marker in a block scalar': 'a: |\n  one\n---\nb: 2\n',
  'end of document': 'a: 1\n...\n',
  'end of document, then a marker': 'a: 1\n...\n---\nb: 2\n',
  'last line without newline': 'a: 1\nb: 2',
  'last line is a comment without newline': 'a: 1\n# b',
  'windows line ends': 'a: 1\r\nb:\r\n  - "x\r\n    y"\r\n  - |\r\n    z\r\n',
  'windows line ends and markers': 'a: 1\r\n---\r\nb: 2\r\n',
  'byte order mark': '\uFEFFa: 1\n',
  'byte order mark before a marker': '\uFEFF---\na: 1\n',

  // tabs
  'tab for indentation': 'a:\n\tb: 1\n',
  'tab at the end of a line': 'a: b\t\nc: "d"\t\n',
  'tab in a block scalar': 'a: |\n  one\n  \ttwo\n\tthree\n',

  // block scalars
  'indentation indicators': 'a: |2\n   one\n  two\nb: |1-\n  x\nc: |-1\n  y\n',

  'end of document, then another': 'a: 1\n...\nb: 2\n---\nc: 3\n',

  // values of plain scalars
  booleans:
    'a: [y, Y, yes, Yes, YES, n, N, no, No, NO, on, On, ON, off, Off, OFF, true, True, TRUE, false, False, FALSE]\n',
  nulls: 'a: [~, null, Null, NULL, nULL, nil]\nb:\n',
  integers:
    'a: [0, 00, 07, 08, 0777, 0o17, 0O17, 0b11, 0B11, -0b11, +0b11, 0xfF, 0XfF, -0x1f, +5, -5, 1_000, _1, 1_, 0_7, 0x_f, --5, +-5]\n',
  'large integers':
    'a: [9007199254740991, 9223372036854775808, 18446744073709551615, 18446744073709551616, -9223372036854775809, 0xffffffffffffffff, 0x10000000000000000]\n',
  floats:
    'a: [1.0, 1., .5, -.5, +.5, 1e3, 1E3, 1e+3, 1e-3, 1.5e3, -1.5e3, 1_0.5, .5e1, 1e, 1e+, ., .., ..5, 1.2.3, 0.10, 012.5, 0x1p4, 1e400, .1_0, 0e0, -0, -0.0]\n',
  sexagesimals: 'a: [1:30, 12:30:45, 190:20:30.15]\nb: 20:22\n',
  timestamps:
    'a: [2026-11-21, 2026-11-21T10:00:00Z, 2001-12-14t21:59:43.10-05:00, 2001-12-14 21:59:43.10 -5, 2026-1-2, 2026-13-01]\n',
  versions: 'a: [1.10, v1.10, 1.10.0, 1-2, 1_2_3, 12e03, 1e5a, 0e12345]\n',
  'hashes that look like numbers': 'a: [1234567e8, 12e4567, 0123456, 00123, 0b2, 0o8, 0xg]\n',
  quantities: 'a: [128Mi, 0.5, 500m, 1e3, 1Gi, 12E, 12k]\n',

  // JSON
  'JSON values, one a line': '{"a": 1}\n{"b": 2}\n\n{"c": 3}\n',
  'JSON and markers': '{"a": 1}\n---\n{"b": 2}\n---\n{"c": 3}\n',
  'JSON then YAML': '{"a": 1}\n---\nb: 2\n',
  'YAML then JSON': 'b: 2\n---\n{"a": 1}\n',
  'JSON with a repeated key': '{"a": 1, "a": 2}\n',
  'JSON with escapes': '{"a": "\\u00e9\\ud83d\\ude00\\/\\b"}\n',
  'JSON with numbers': '{"a": [1.10, 1e3, -0, 1E+2, 0.1e-2]}\n',
  'JSON with words': '{"a": yes, "b": 0644}\n',

  // manifests
  'null annotations':
    'apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  annotations:\n  labels: ~\nspec:\n  containers: []\n',
};

/** Texts that `review` and kubectl read differently, or that only one of them accepts, with the reason. */
export const deliberate: Record<string, [why: string, text: string]> = {
  'merge key last': ['a key beside it counts, wherever it is', 'x: &x {a: 1, b: 2}\ny:\n  b: 3\n  <<: *x\n'],
  'comment right behind a comma': ['each version of YAML requires a space', 'a: [1,#x\n2]\n'],
  'a colon before a brace': ['it looks like a key, and is a text in kubectl', 'a: {b:1, "c":2, d:}\n'],
  'brackets right behind a key': ['kubectl refuses it', 'a: {b:[ ]}\nc: {d:{e: f}}\n'],
  'closing bracket at column 0': ['it has to be as far right as its key', 'a:\n  b: [\n    one\n]\nc: 1\n'],
  'closing bracket at column 0, after quotes': [
    'it has to be as far right as its key',
    'a:\n  b: [\n    "one"\n]\nc: 1\n',
  ],
  'closing brace left of its key': [
    'it has to be as far right as its key',
    '- a:\n    b: {\n  c: d\n  }\n- e\n',
  ],
  'tab before a closing bracket': ['kubectl refuses it', 'a: [1\n\t]\n'],
  'tab in brackets': ['the package counts spaces only', 'a: [\n\t1,\n\t2\n]\n'],
  'a question mark in braces': ['kubectl refuses it', 'a: {b: http://c/?d=e}\n'],
  'binary tag': ['it stays base64', 'a: !!binary aGVsbG8=\n'],
  'a large number as a key': ['it has the spelling of JavaScript', '1e20: a\n'],
  'yaml 1.1 directive': ['kubectl takes it for a document', '%YAML 1.1\n---\na: yes\n'],
  'two manifests without a marker': [
    'kubectl reads only the second',
    'kind: A\nmetadata: {name: a}\nkind: B\nmetadata: {name: b}\n',
  ],
  'marker with a value': ['kubectl refuses it', '--- {a: 1}\n'],
  'null as a key': ['kubectl refuses it', 'a:\n  ~: b\n'],
  infinity: ['kubectl refuses it', 'a: .inf\n'],
  'JSON values in one line': ['a newline is needed', '{"a": 1}{"b": 2}\n'],
};
