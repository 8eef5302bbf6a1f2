/** A limit, with the sentence of docs/reference/limits.md. */
export class Limit {
  readonly value: number;
  /** The value with its unit, as the page shows it. */
  readonly shown: string;
  /** What the limit bounds. Markdown, like `beyond`. */
  readonly text: string;
  /** What happens beyond the limit, where the page does not say so in general. */
  readonly beyond: string;

  constructor(value: number, shown: string, text: string, beyond = '') {
    this.value = value;
    this.shown = shown;
    this.text = text;
    this.beyond = beyond;
  }
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
  const valuesOf = (group: Declaration): object =>
    Object.fromEntries(
      Object.entries(group).map(([name, limit]) => {
        if (typeof limit === 'number') return [name, limit];
        if (!(limit instanceof Limit)) return [name, valuesOf(limit)];
        documented.push(limit);
        return [name, limit.value];
      }),
    );
  return valuesOf(declaration) as Values<T>;
}

/** A limit in bytes. */
export function bytes(value: number, text: string, beyond?: string): Limit {
  const shown = value < 2 ** 20 ? `${value / 1024} KiB` : `${value / 2 ** 20} MiB`;
  return new Limit(value, shown, text, beyond);
}

/** A limit in milliseconds. */
export function time(value: number, text: string, beyond?: string): Limit {
  const shown = value < 120_000 ? `${value / 1000} s` : `${value / 60_000} min`;
  return new Limit(value, shown, text, beyond);
}

/** A number of things. The pages of ICU that `toLocaleString` reads take 5 MB of every process. */
export function count(value: number, text: string, beyond?: string): Limit {
  return new Limit(value, String(value).replace(/\B(?=(\d{3})+$)/g, ','), text, beyond);
}
