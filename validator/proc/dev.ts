/**
 * The names in `/proc/net/dev`, which has every interface of the reader's own network namespace: a name, a colon, and
 * numbers (`net/core/net-procfs.c`).
 */
export function deviceNames(text: string): string[] {
  return text.split('\n').flatMap((line) => /^\s*([^\s|]+):\s*\d/.exec(line)?.[1] ?? []);
}
