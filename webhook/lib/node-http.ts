/** Node's module `node:http`. An `import` of it takes 12 MB: it reads the export `WebSocket`, which loads undici. */
export const http: typeof import('node:http') = process.getBuiltinModule('node:http');
