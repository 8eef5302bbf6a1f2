import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { compiledSchemas } from './compiled-schemas.ts';

/*
 * usage: node release/bundle.ts
 *
 * Bundles the command line for the server's image: dist/bundle/webhook/main.js, and beside it a file for each part that
 * not every command loads (docs/decisions/images-and-releases.md). LICENSES has the licenses of the packages in it.
 */
const checkout = fileURLToPath(new URL('../', import.meta.url));
const folder = join(checkout, 'dist/bundle');
const target = join(folder, 'webhook');

// no part of an earlier bundle
rmSync(folder, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: checkout,
  entryPoints: ['webhook/main.ts'],
  outdir: target,
  bundle: true,
  // in one file all of it would be kept in memory, also the client of Kubernetes, which only reads kubeconfig files
  splitting: true,
  platform: 'node',
  target: 'node24',
  plugins: [compiledSchemas(checkout)],
  // names and short lines stay, so that a stack trace can be read
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 120,
  format: 'esm',
  // for packages in CommonJS
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
});
// read at run time, relative to the module
for (const path of ['config/profiles', 'config/kinds.yaml', 'dashboard/page']) {
  cpSync(join(checkout, 'webhook', path), join(target, basename(path)), { recursive: true });
}

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
const licenses = join(folder, 'LICENSES');
mkdirSync(dirname(licenses), { recursive: true });
writeFileSync(licenses, `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
