import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import type { Plugin } from 'esbuild';

/** Modules that compile JSON schemas, and export nothing but the validators. */
export const schemaModules = ['webhook/core/facts/pod-schema.ts', 'webhook/config/schema.ts'];

/**
 * Compiles JSON schemas when the bundle is built. If the server compiled them, this would take a third of the time
 * that it needs to start.
 */
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
      // the name ends at the first `@`, because the path may contain `@` too
      const at = path.indexOf('@');
      const [name, file] = [path.slice(0, at), path.slice(at + 1)];
      const { [name]: validator } = await import(pathToFileURL(file).href);
      // `standalone` reads only the option `code` of this instance: the validator is compiled already
      const contents = standalone.default(new Ajv({ code: { source: true, esm: true } }), validator);
      return { contents, loader: 'js', resolveDir: join(checkout, 'release') };
    });
  },
});

/**
 * Makes esbuild treat a package as if it declared `sideEffects: false`: only modules whose exports are used are
 * bundled. The package must import its own modules by file name.
 */
export const withoutSideEffects = (name: string): Plugin => ({
  name: 'without-side-effects',
  setup({ onResolve, resolve }) {
    onResolve({ filter: new RegExp(`^${name}$`) }, async ({ path, pluginData, ...options }) => {
      if (pluginData === name) return undefined;
      const found = await resolve(path, { ...options, pluginData: name });
      return { ...found, sideEffects: false };
    });
    // resolves paths itself, because esbuild's `resolve` would need 25 s of processor time for the package's imports
    onResolve({ filter: /^\.{1,2}\// }, ({ path, importer, resolveDir }) =>
      importer.includes(`/node_modules/${name}/`)
        ? { path: join(resolveDir, path), sideEffects: false }
        : undefined,
    );
  },
});
