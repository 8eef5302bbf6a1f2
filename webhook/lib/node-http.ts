/** Node's `node:http`. An `import` uses 12 MB more memory: it reads `WebSocket`, which loads undici. */
export const http: typeof import('node:http') = process.getBuiltinModule('node:http');
