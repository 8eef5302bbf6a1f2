/**
 * Node's own modules, each loaded at first use. An `import` of `node:fs` would cost every run 5 ms for streams that are
 * not used here, because listing a module's exports loads all of them.
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
