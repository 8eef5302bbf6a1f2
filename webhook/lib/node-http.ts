/**
 * Node's module `node:http`. An `import` of it takes 12 MB and 25 ms (Node 24.21): it reads all that the module exports,
 * also `WebSocket`, for which Node loads its whole client of the Web.
 */
export const http: typeof import('node:http') = process.getBuiltinModule('node:http');
