import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import type { Plugin } from 'esbuild';

/** The modules that compile JSON schemas and export only the validators. */
export const schemaModules = ['webhook/core/facts/pod-schema.ts', 'webhook/config/schema.ts'];

/** Compiles JSON schemas when the bundle is built, because this would take a third of the server's start. */
export const compiledSchemas = (checkout: string): Plugin => ({
  name: 'compiled-schemas',
  setup({ onLoad, onResolve }) {
    for (const path of schemaModules) {
      const filter = new RegExp(`/${path.replaceAll('.', '\\.')}$`);
      onLoad({ filter, namespace: 'file' }, async ({ path: file }) => {
        const names = Object.keys(await import(pathToFileURL(file).href));
        const contents = names
          .map((name) => `export { validate as ${name} } from ${JSON.stringify(`compiled:${name}@${file}`)};`)
          .join('\n');
        return { contents, loader: 'js' };
      });
    }
    onResolve({ filter: /^compiled:/ }, ({ path }) => ({ path: path.slice(9), namespace: 'compiled' }));
    onLoad({ filter: /./, namespace: 'compiled' }, async ({ path }) => {
      // the first `@` ends the name, because the file's path may contain `@` too
      const at = path.indexOf('@');
      const [name, file] = [path.slice(0, at), path.slice(at + 1)];
      const { [name]: validator } = await import(pathToFileURL(file).href);
      // only ajv's option `code` matters, because the validator is compiled already
      const contents = standalone.default(new Ajv({ code: { source: true, esm: true } }), validator);
      return { contents, loader: 'js', resolveDir: join(checkout, 'release') };
    });
  },
});

/**
 * Bundles only the modules of a package whose exports are used, as if it declared `sideEffects: false`. The package's
 * modules name each other by the path of the file.
 */
export const withoutSideEffects = (name: string): Plugin => ({
  name: 'without-side-effects',
  setup({ onResolve, resolve }) {
    onResolve({ filter: new RegExp(`^${name}$`) }, async ({ path, pluginData, ...options }) => {
      if (pluginData === name) return undefined;
      const found = await resolve(path, { ...options, pluginData: name });
      return { ...found, sideEffects: false };
    });
    // without esbuild's `resolve`, which would take 25 s of processor time for the package's thousands of imports
    onResolve({ filter: /^\.{1,2}\// }, ({ path, importer, resolveDir }) =>
      importer.includes(`/node_modules/${name}/`)
        ? { path: join(resolveDir, path), sideEffects: false }
        : undefined,
    );
  },
});
