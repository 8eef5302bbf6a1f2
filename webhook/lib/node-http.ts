/** Node's module `node:http`. An `import` takes 12 MB more: it reads the export `WebSocket`, which loads undici. */
export const http: typeof import('node:http') = process.getBuiltinModule('node:http');
