import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Dashboard } from './server.ts';

/** The page as one HTML document, and the policy under which it runs. */
export interface Page {
  html: string;
  /** Allows this script and this style alone. */
  policy: string;
}

/**
 * Reads the page, which is beside this file in the sources and in the published `dist/`.
 *
 * @param dashboard the data that the page shows; without it, the page asks its server
 */
export function readPage(dashboard?: Dashboard): Page {
  const read = (name: string): string => readFileSync(new URL(`./page/${name}`, import.meta.url), 'utf8');
  const script = `\n${read('page.js')}`;
  const style = `\n${read('style.css')}`;
  const icon = `data:image/svg+xml;base64,${Buffer.from(read('icon.svg')).toString('base64')}`;
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
  const head = [
    // a file has no headers
    `<meta http-equiv="Content-Security-Policy" content="${policy}" />`,
    `<link rel="icon" href="${icon}" />`,
    `<style>${style}</style>`,
  ].join('\n    ');
  const data = dashboard ? `<script type="application/json" id="data">${inScript(dashboard)}</script>` : '';
  // by functions: `$&` in the data is no pattern
  const html = read('index.html')
    .replace('<!-- head -->', () => head)
    .replace('<!-- script -->', () => `${data}<script type="module">${script}</script>`);
  return { html, policy };
}

/** JSON that is safe in a script element: `<` is the only character by which one ends or a comment starts. */
const inScript = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
