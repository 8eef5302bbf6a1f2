import fc from 'fast-check';

/** Separators between words and values in quotes, brackets and braces: spaces, or a new line with any indentation. */
const gap = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(' ', '  ') },
  fc
    .tuple(
      fc.constantFrom('\n', '\n\n', '\r\n'),
      fc.constantFrom('', ' ', '  ', '      ', '\t', '  \t', '\t '),
    )
    .map(([ends, indent]) => ends + indent),
);

const word = fc.constantFrom(
  ...['one', 'x: y', '- z', '#c', '{a', 'b]', 'a,b', 'k:', '..', '%d', '?', '|', '&a', '*a', '!t'],
);
const words = fc
  .array(fc.tuple(word, gap), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.flat().slice(0, -1).join(''));

/** A value in quotes, brackets or braces. */
const { flow } = fc.letrec<{ value: string; flow: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, fc.constantFrom('1', 'true', 'a b', '~'), tie('flow')),
  flow: fc.oneof(
    { maxDepth: 3 },
    words.map((text) => `'${text}'`),
    fc.tuple(words, fc.constantFrom('', '\\n', '\\t', '\\"', '\\\n')).map((parts) => `"${parts.join('')}"`),
    fc
      .tuple(fc.array(fc.tuple(gap, tie('value'), gap), { maxLength: 3 }), gap)
      .map(([items, last]) => `[${items.map((item) => item.join('')).join(',')}${last}]`),
    fc
      .tuple(
        fc.array(fc.tuple(gap, fc.constantFrom('a: ', '"b":', "'c': "), tie('value'), gap), { maxLength: 3 }),
        last(),
      )
      .map(([items, end]) => `{${items.map((item) => item.join('')).join(',')}${end}}`),
  ),
}));

/** How a map in braces may end. */
function last() {
  return fc.tuple(fc.constantFrom('', ', ', ' # c\n'), gap).map((parts) => parts.join(''));
}

/** Documents with values in quotes, brackets and braces whose lines have any indentation. */
export const flowDocuments = fc
  .array(
    fc.tuple(
      fc.constantFrom('a: ', 'b:\n  c: ', 'd:\n- ', 'e:\n  - f: ', 'g: &x ', 'h:\n', 'i:\n    j:\n      '),
      flow,
      fc.constantFrom('\n', ' # c\n', ' \n'),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((entries) => entries.map((parts) => parts.join('')).join(''));
