import type { Plugin } from 'esbuild';

/**
 * Leaves out of the bundle the modules of a package whose exports are not used. A package that does not declare
 * `sideEffects: false` is otherwise bundled as a whole: 1,000 modules for a kubeconfig file.
 */
export const withoutSideEffects = (name: string): Plugin => ({
  name: 'without-side-effects',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^\.{0,2}\/|^@/ }, async ({ path, importer, pluginData, ...options }) => {
      const isInside = path === name || (path.startsWith('.') && importer.includes(`/node_modules/${name}/`));
      if (!isInside || pluginData === name) return undefined;
      const found = await resolve(path, { ...options, importer, pluginData: name });
      return { ...found, sideEffects: false };
    });
  },
});
