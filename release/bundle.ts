import { chmodSync, cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { compiledSchemas } from './compiled-schemas.ts';

/*
 * usage: npx node release/bundle.ts [FOLDER]
 *
 * Bundles the program cni-gate, for npm and for the server's image, into FOLDER/webhook, by default dist/webhook
 * (docs/decisions/images-and-releases.md). Writes the licenses of the bundled packages into FOLDER/LICENSES.
 */
const checkout = fileURLToPath(new URL('../', import.meta.url));
const [folder = join(checkout, 'dist')] = process.argv.slice(2);
const target = join(folder, 'webhook');

rmSync(target, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: checkout,
  entryPoints: { main: 'webhook/main.ts' },
  outdir: target,
  bundle: true,
  // a single file would stay in memory as a whole, including the package that reads kubeconfig files
  splitting: true,
  platform: 'node',
  target: 'node22',
  plugins: [compiledSchemas],
  // identifiers are not shortened, and lines are short, so that stack traces are readable
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 120,
  format: 'esm',
  // bundled CommonJS packages call `require`, which ES modules lack
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
});
// files that the program reads at run time, by a path relative to its module
for (const path of ['config/profiles', 'config/kinds.yaml', 'report/dashboard/page']) {
  cpSync(join(checkout, 'webhook', path), join(target, basename(path)), { recursive: true });
}
cpSync(join(checkout, 'manifests/base'), join(target, 'manifests'), { recursive: true });

const packages = new Set(
  Object.values(metafile.outputs)
    .flatMap(({ inputs }) => Object.keys(inputs))
    .flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(path)?.[0] ?? []),
);
const texts = [...packages].sort().map((path) => {
  const { name, version, license } = JSON.parse(readFileSync(join(checkout, path, 'package.json'), 'utf8'));
  const files = globSync('{licen[cs]e,LICEN[CS]E,License,NOTICE}*', { cwd: join(checkout, path) }).sort();
  const own = files.map((file) => readFileSync(join(checkout, path, file), 'utf8').trim());
  return [`${name} ${version}: ${license}`, ...own].join('\n\n');
});
chmodSync(join(target, 'main.js'), 0o755);
writeFileSync(join(folder, 'LICENSES'), `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
