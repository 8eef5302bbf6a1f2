/** A limit, with the sentence of docs/reference/limits.md. */
export interface Limit {
  value: number;
  /** The value with its unit, as the page shows it. */
  shown: string;
  /** What the limit bounds. Markdown, like `beyond`. */
  text: string;
  /** What happens beyond the limit, where the page does not say so in general; else empty. */
  beyond: string;
}

/** A group of limits. A plain number is internal, and not in the documentation. */
interface Declaration {
  [name: string]: number | Limit | Declaration;
}

type Values<T> = {
  -readonly [K in keyof T]: T[K] extends Limit ? number : T[K] extends Declaration ? Values<T[K]> : number;
};

/** The documented limits, by the heading of their section. */
export const documentedLimits = new Map<string, Limit[]>();

/**
 * Declares limits for a section of docs/reference/limits.md.
 *
 * @returns their values
 */
export function declareLimits<const T extends Declaration>(section: string, declaration: T): Values<T> {
  const documented = documentedLimits.get(section) ?? [];
  documentedLimits.set(section, documented);
  const isLimit = (limit: Limit | Declaration): limit is Limit => 'shown' in limit;
  const valuesOf = (group: Declaration): object =>
    Object.fromEntries(
      Object.entries(group).map(([name, limit]) => {
        if (typeof limit === 'number') return [name, limit];
        if (!isLimit(limit)) return [name, valuesOf(limit)];
        documented.push(limit);
        return [name, limit.value];
      }),
    );
  return valuesOf(declaration) as Values<T>;
}

/** A limit in bytes. */
export const bytes = (value: number, text: string, beyond = ''): Limit => ({
  value,
  shown: value < 2 ** 20 ? `${value / 1024} KiB` : `${value / 2 ** 20} MiB`,
  text,
  beyond,
});

/** A limit in milliseconds. */
export const time = (value: number, text: string, beyond = ''): Limit => ({
  value,
  shown: value < 120_000 ? `${value / 1000} s` : `${value / 60_000} min`,
  text,
  beyond,
});

/** A number of things. */
export const count = (value: number, text: string, beyond = ''): Limit => ({
  value,
  shown: value.toLocaleString('en'),
  text,
  beyond,
});
