import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

/*
 * The documentation as a static site: the Markdown files of the repository as they are, with a search that works offline.
 * A link to a page that does not exist fails the build.
 */
const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const checkout = at('../../..');
const repository = 'https://github.com/cni-gate/cni-gate';

/** Folders without pages. A link into them leads to the repository. */
const others = [
  '.github',
  'certs',
  'charts',
  'examples',
  'integrations',
  'manifests',
  'release',
  'schemas',
  'templates',
];
const code = [...others, 'tests', 'validator', 'webhook'];

/** The first heading of a page. */
const titleOf = (path) =>
  /^# (.*)$/m.exec(readFileSync(join(checkout, path), 'utf8'))?.[1]?.replaceAll('`', '') ?? path;

/** What a new user reads first, in that order. */
const first = ['README.md', 'is-this-for-me.md', 'tutorial.md', 'install.md'];
const rank = (file) => (first.includes(file) ? first.indexOf(file) : first.length);

/** All pages of a folder of `docs`: what is read first, then the others by name. */
function folder(text, name) {
  const files = readdirSync(join(checkout, 'docs', name)).filter((file) => file.endsWith('.md'));
  const items = files
    .sort()
    .sort((one, other) => rank(one) - rank(other))
    .map((file) => ({
      text: titleOf(`docs/${name}/${file}`),
      link: `/docs/${name}/${isReadme(file) ? '' : file.replace(/\.md$/, '')}`,
    }));
  return { text, collapsed: true, items };
}
const isReadme = (file) => file === 'README.md';

/** Where a link of a page leads: to a page of the site, or to the repository. */
function resolve(href, page) {
  const [path = '', anchor] = href.split('#');
  if (path === '' || /^[a-z]+:/.test(path)) return href;
  const target = posix.join(posix.dirname(page), path);
  const isPage = target.endsWith('.md') && !code.some((one) => target.startsWith(`${one}/`));
  if (isPage) return href;
  return `${repository}/tree/main/${target}${anchor === undefined ? '' : `#${anchor}`}`;
}

export default defineConfig({
  title: 'cni-gate',
  description: 'A pod starts only when its network is proved to work.',
  srcDir: checkout,
  outDir: at('../../../dist-site'),
  srcExclude: [...code.map((one) => `${one}/**`), 'dist*/**', '**/node_modules/**'],
  rewrites: (page) => page.replace(/README\.md$/, 'index.md'),
  cleanUrls: true,
  // diagrams are drawn on white
  appearance: false,
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    config: (md) => {
      const { escapeHtml } = md.utils;
      // what looks like a template of Vue is text here
      md.renderer.rules.code_inline = (tokens, index) =>
        `<code v-pre>${escapeHtml(tokens[index]?.content ?? '')}</code>`;
      md.core.ruler.push('links-to-code', ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.type === 'link_open' ? token.attrGet('href') : null;
          if (href !== null) token.attrSet('href', resolve(href, env.relativePath));
        }
      });
    },
  },
  // pages lie outside of this package, where these would not be found
  vite: {
    resolve: {
      alias: {
        'vue/server-renderer': at('../node_modules/vue/server-renderer'),
        vue: at('../node_modules/vue'),
      },
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Guides', link: '/docs/guides/' },
      { text: 'Reference', link: '/docs/reference/configuration' },
    ],
    sidebar: [
      folder('Guides', 'guides'),
      folder('Reference', 'reference'),
      { text: 'Glossary', link: '/docs/glossary' },
      { text: 'Threat model', link: '/docs/threat-model' },
      { text: 'Performance', link: '/docs/performance' },
      { text: 'Security', link: '/SECURITY' },
      folder('Decisions', 'decisions'),
    ],
    socialLinks: [{ icon: 'github', link: repository }],
  },
});
