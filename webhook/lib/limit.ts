/** A limit as docs/reference/limits.md shows it. */
interface DocumentedLimit {
  /** What the limit bounds. Markdown, like `beyond`. */
  text: string;
  /** The value with its unit. */
  shown: string;
  /** What happens beyond the limit; empty where the page's introduction already explains it. */
  beyond: string;
}

/** The documented limits, by the heading of their section. */
export const documentedLimits = new Map<string, DocumentedLimit[]>();
let current: DocumentedLimit[] = [];

/** Begins a section of docs/reference/limits.md. The limits that are declared next belong to this section. */
export function section(heading: string): void {
  current = [];
  documentedLimits.set(heading, current);
}

/** Makes a function that declares a documented limit. Limits that are plain numbers are not in the documentation. */
const declare =
  (inWords: (value: number) => string) =>
  (value: number, text: string, beyond = ''): number => {
    current.push({ text, shown: inWords(value), beyond });
    return value;
  };

/** A limit in bytes. */
export const bytes = declare((value) => (value < 2 ** 20 ? `${value / 1024} KiB` : `${value / 2 ** 20} MiB`));
/** A limit in milliseconds. */
export const time = declare((value) => (value < 120_000 ? `${value / 1000} s` : `${value / 60_000} min`));
/** A limit on a count. `toLocaleString` is not used, as it would keep 6 MB of ICU's data in every server's memory. */
export const count = declare((value) => String(value).replace(/\B(?=(?:\d{3})+$)/g, ','));
