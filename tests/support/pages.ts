import { globSync, readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);

export interface Page {
  /** The path, relative to the root of the project. */
  path: string;
  text: string;
}

export function pages(...globs: string[]): Page[] {
  return globSync(globs, { cwd: root })
    .sort()
    .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }));
}

/** The code blocks of a language. A block within a list loses its indentation. */
export function blocks(text: string, language: string): string[] {
  const found = text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)\\n *\`\`\`$`, 'gm'));
  return [...found].map(([, indent = '', body = '']) =>
    body
      .split('\n')
      .map((line) => line.slice(indent.length))
      .join('\n'),
  );
}
