import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The page as one HTML document, and the policy under which it runs. */
export interface Page {
  html: string;
  /** Allows this script and this style alone. */
  policy: string;
}

/** Reads the page, which is beside this file in the sources and in the published `dist/`. */
export function readPage(): Page {
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
    "frame-ancestors 'none'",
  ].join('; ');
  const head = `<link rel="icon" href="${icon}" />\n    <style>${style}</style>`;
  // by functions: `$&` in the files is no pattern
  const html = read('index.html')
    .replace('<!-- head -->', () => head)
    .replace('<!-- script -->', () => `<script type="module">${script}</script>`);
  return { html, policy };
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
