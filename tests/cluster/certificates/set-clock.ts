/**
 * A module that a server loads first. It adds an offset to the clock; a message with milliseconds sets the offset.
 * Only JavaScript's `Date` is changed, because the server issues and judges certificates by `Date`.
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
// the channel must not keep the server alive after it was told to stop
process.channel?.unref();
