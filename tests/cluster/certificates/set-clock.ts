/**
 * Loaded into a server before anything else: a clock that can be set while it runs, by a message with milliseconds.
 * Only JavaScript's own clock is moved, which is the one that certificates are judged and made by.
 */
const real = Date;
let shift = 0;

globalThis.Date = class extends real {
  constructor(...args: [] | ConstructorParameters<typeof real>) {
    if (args.length === 0) super(real.now() + shift);
    else super(...(args as [number]));
  }

  static override now(): number {
    return real.now() + shift;
  }
} as DateConstructor;

process.on('message', (ms) => {
  shift = Number(ms);
  process.send?.('set');
});
// it must not keep a server alive that is told to stop
process.channel?.unref();
