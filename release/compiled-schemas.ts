import { pathToFileURL } from 'node:url';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import type { Plugin } from 'esbuild';

/** Modules that compile JSON schemas, and export nothing but the validators. */
export const schemaModules = ['webhook/core/facts/pod-schema.ts', 'webhook/config/schema.ts'];

/**
 * Compiles JSON schemas when the bundle is built. If the server compiled them, this would take a third of its start
 * time.
 */
export const compiledSchemas: Plugin = {
  name: 'compiled-schemas',
  setup({ onLoad }) {
    for (const path of schemaModules) {
      const filter = new RegExp(`/${path.replaceAll('.', '\\.')}$`);
      onLoad({ filter }, async ({ path: file }) => {
        const exported = Object.entries(await import(pathToFileURL(file).href));
        return { contents: exported.map(([name, validator]) => moduleOf(name, validator)).join('\n') };
      });
    }
  },
};

/** The code of a constant with a validator. It is inside a function, because all validators declare the same names. */
function moduleOf(name: string, validator: unknown): string {
  // `standalone` reads only the option `code` of this instance: the validator is compiled already
  const code = standalone.default(new Ajv({ code: { source: true } }), validator as never);
  return `export const ${name} = ((module) => {\n${code}\nreturn module.exports;\n})({});`;
}
