/**
 * Makes a value for all who ask at about the same time: who asks while it is made gets the same, and so does who asks
 * before it is too old.
 *
 * @param age milliseconds from the end of the making
 * @param make not called again before it has ended
 */
export function sharedFor<T>(age: number, make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  let until = Number.POSITIVE_INFINITY;
  return () => {
    if (made && performance.now() < until) return made;
    until = Number.POSITIVE_INFINITY;
    const begun = make();
    made = begun;
    begun.then(
      () => {
        until = performance.now() + age;
      },
      () => {
        // the next who asks tries again
        until = 0;
      },
    );
    return begun;
  };
}
