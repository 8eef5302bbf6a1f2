/**
 * Node's own modules, each loaded when it is needed first. An `import` of `node:fs` would cost every run 5 ms for
 * streams that nobody here uses: to list a module's exports is to load all of them.
 */
export const fs = (): typeof import('node:fs') => process.getBuiltinModule('node:fs');
/** `node:os`, loaded at the first call. */
export const os = (): typeof import('node:os') => process.getBuiltinModule('node:os');
/** `node:net`, loaded at the first call. */
export const net = (): typeof import('node:net') => process.getBuiltinModule('node:net');
/** `node:dgram`, loaded at the first call. */
export const dgram = (): typeof import('node:dgram') => process.getBuiltinModule('node:dgram');
/** `node:dns`, loaded at the first call. */
export const dns = (): typeof import('node:dns') => process.getBuiltinModule('node:dns');
