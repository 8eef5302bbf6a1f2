/**
 * Node's own modules, each loaded at first use. An `import` of `node:fs` would cost every run 5 ms for streams that are
 * not used here, because listing a module's exports loads all of them.
 */
export const fs = (): typeof import('node:fs') => process.getBuiltinModule('node:fs');
export const os = (): typeof import('node:os') => process.getBuiltinModule('node:os');
export const net = (): typeof import('node:net') => process.getBuiltinModule('node:net');
export const dgram = (): typeof import('node:dgram') => process.getBuiltinModule('node:dgram');
export const dns = (): typeof import('node:dns') => process.getBuiltinModule('node:dns');
