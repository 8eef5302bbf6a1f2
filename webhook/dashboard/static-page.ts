import { createHash } from 'node:crypto';
import type { Dashboard } from './model.ts';
import type { PageFiles } from './page-files.ts';

/** The tags of `index.html` that a single file replaces. */
const tags = {
  icon: '<link rel="icon" href="icon.svg" />',
  css: '<link rel="stylesheet" href="style.css" />',
  script: '<script type="module" src="main.js"></script>',
};

/**
 * The page as one HTML file with its data, which needs no server. Its policy allows this script and this style alone.
 *
 * @throws Error where the page has another form than expected, which is a defect
 */
export function staticPage({ html, css, icon, modules }: PageFiles, dashboard: Dashboard): string {
  const script = `\n${modules.map(({ name, text }) => withoutImports(name, text)).join('\n')}\n`;
  const style = `\n${css}`;
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
  const head = [
    `<meta http-equiv="Content-Security-Policy" content="${policy}" />`,
    `<link rel="icon" href="data:image/svg+xml;base64,${Buffer.from(icon).toString('base64')}" />`,
  ].join('\n    ');
  const data = `<script type="application/json" id="data">${inScript(JSON.stringify(dashboard))}</script>`;
  return [
    [tags.icon, head],
    [tags.css, `<style>${style}</style>`],
    [tags.script, `${data}\n    <script type="module">${script}</script>`],
  ].reduce((text, [tag, by]) => replaced(text, tag ?? '', by ?? ''), html);
}

/** JSON that is safe in a script element: `<` is the only character by which one ends or a comment starts. */
export const inScript = (json: string): string => json.replaceAll('<', '\\u003c');

/**
 * A module as a part of one script: the names that modules export are unique.
 *
 * @throws Error for an import or export of a form that is not known
 */
function withoutImports(name: string, text: string): string {
  const body = text
    .replaceAll(/^import \{[^}]*\} from '\.\/[a-z]+\.js';\n/gm, '')
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
