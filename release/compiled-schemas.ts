import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import type { Plugin } from 'esbuild';

/** The modules that compile JSON schemas and export the validators, and nothing else. */
export const schemaModules = ['webhook/admission/pod-schema.ts', 'webhook/config/schema.ts'];

/**
 * Makes the bundle load validators that are compiled when it is built. To compile them at each start takes about a third
 * of the processor time until the server is ready, and some megabytes: docs/decisions/server.md
 */
export const compiledSchemas = (checkout: string): Plugin => ({
  name: 'compiled-schemas',
  setup({ onLoad, onResolve }) {
    for (const path of schemaModules) {
      onLoad({ filter: pattern(path), namespace: 'file' }, async ({ path: file }) => {
        const names = Object.keys(await import(pathToFileURL(file).href));
        const contents = names
          .map((name) => `export { validate as ${name} } from ${JSON.stringify(`compiled:${name}@${file}`)};`)
          .join('\n');
        return { contents, loader: 'js' };
      });
    }
    onResolve({ filter: /^compiled:/ }, ({ path }) => ({ path: path.slice(9), namespace: 'compiled' }));
    onLoad({ filter: /./, namespace: 'compiled' }, async ({ path }) => {
      // the folder of the checkout may have the sign in its name too
      const at = path.indexOf('@');
      const [name, file] = [path.slice(0, at), path.slice(at + 1)];
      const { [name]: validator } = await import(pathToFileURL(file).href);
      return { contents: sourceOf(validator), loader: 'js', resolveDir: join(checkout, 'release') };
    });
  },
});

const pattern = (path: string): RegExp => new RegExp(`/${path.replaceAll('.', '\\.')}$`);

/** The source of a validator as an ES module. Of ajv's options only `code` matters here: the validator is compiled. */
const sourceOf = (validator: Parameters<typeof standalone.default>[1]): string =>
  standalone.default(new Ajv({ code: { source: true, esm: true } }), validator);
