import { readFileSync } from 'node:fs';

const folder = new URL('./page/', import.meta.url);

/** The modules of the page. Each imports only those before it. */
export const moduleNames = [
  'dom.js',
  'states.js',
  'time.js',
  'table.js',
  'data.js',
  'summary.js',
  'groups.js',
  'details.js',
  'matrix.js',
  'chart.js',
  'lists.js',
  'tables.js',
  'side.js',
  'source.js',
  'main.js',
] as const;

/** The files of the page, as text. */
export interface PageFiles {
  html: string;
  css: string;
  icon: string;
  /** In the order in which they import each other. */
  modules: { name: string; text: string }[];
}

/** Reads the page, which is beside this file in the sources and in the published `dist/`. */
export function readPage(): PageFiles {
  const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8');
  return {
    html: read('index.html'),
    css: read('style.css'),
    icon: read('icon.svg'),
    modules: moduleNames.map((name) => ({ name, text: read(name) })),
  };
}
