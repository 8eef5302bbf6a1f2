/* Lists of objects that V8 parses slowly for their size, because it makes a shape for each sequence of keys. */

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const escapes = ['\\n', '\\t', '\\b', '\\f', '\\r', '\\\\'];

/** A list of objects. Each has 23 of 1,380 keys, and hardly any two have the same keys in the same order. */
export const inChangingOrder = (objects: number): string => {
  const keys = (index: number): string =>
    many(23, (place) => `"k${(place * (1 + (index % 22)) + index) % 23}-${index % 60}":1`).join();
  return `[${many(objects, (index) => `{${keys(index)}}`).join()}]`;
};

/** A list of objects with 64 keys each. All keys are different, and consist of escaped characters only. */
export const withEscapedKeys = (objects: number): string => {
  const key = (index: number): string =>
    many(8, (place) => escapes[Math.floor(index / 6 ** place) % 6]).join('');
  const keys = (index: number): string => many(64, (place) => `"${key(64 * index + place)}":1`).join();
  return `[${many(objects, (index) => `{${keys(index)}}`).join()}]`;
};
