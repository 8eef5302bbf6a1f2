import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Dashboard } from './server.ts';

/** The modules of the page. Each imports only those before it. */
export const moduleNames = ['dom.js', 'time.js', 'rows.js', 'tables.js', 'source.js', 'main.js'] as const;

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
 * @throws Error if the files of the page have another form than expected, which is a defect
 */
export function readPage(dashboard?: Dashboard): Page {
  const read = (name: string): string => readFileSync(new URL(`./page/${name}`, import.meta.url), 'utf8');
  const script = `\n${moduleNames.map((name) => withoutImports(name, read(name))).join('\n')}\n`;
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
  const data = dashboard && `<script type="application/json" id="data">${inScript(dashboard)}</script>\n    `;
  const withHead = replaced(read('index.html'), '<!-- head -->', head);
  const html = replaced(withHead, '<!-- script -->', `${data ?? ''}<script type="module">${script}</script>`);
  return { html, policy };
}

/** JSON that is safe in a script element: `<` is the only character by which one ends or a comment starts. */
const inScript = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

/** An import of another module of the page. */
const importLine = /^import \{[^}]*\} from '\.\/[a-z]+\.js';\n/gm;

/**
 * A module as a part of one script: the names that modules declare are unique.
 *
 * @throws Error for an import or export of a form that is not known
 */
export function withoutImports(name: string, text: string): string {
  const body = text
    .replaceAll(importLine, '')
    .replaceAll(/^export (?=(?:async )?(?:const|function|class) )/gm, '');
  if (/^\s*(?:import|export)\b/m.test(body) || /<\/script|<!--/i.test(body))
    throw new Error(`${name} of the page has an import or export that cannot be joined`);
  return body;
}

function replaced(text: string, tag: string, by: string): string {
  if (text.split(tag).length !== 2) throw new Error(`index.html of the page has to have one ${tag}`);
  // as a function: `$&` in the data is no pattern
  return text.replace(tag, () => by);
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
