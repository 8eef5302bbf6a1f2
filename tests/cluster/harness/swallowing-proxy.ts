import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to the API server that can be made to swallow bytes: nothing is refused, nothing is closed, nothing comes. */
export class SwallowingProxy {
  readonly #server;
  readonly #sockets = new Set<Socket>();
  #lost = new Set<Socket>();
  #swallows = false;

  private constructor(target: URL) {
    // half of a connection ends when the other does, and not before
    this.#server = createServer({ allowHalfOpen: true }, (near) => {
      const far = connect({ host: target.hostname, port: Number(target.port), allowHalfOpen: true });
      this.#join(near, far);
      this.#join(far, near);
      if (this.#swallows) this.#lost.add(near).add(far);
    });
  }

  static async to(url: string): Promise<SwallowingProxy> {
    const proxy = new SwallowingProxy(new URL(url));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From now on, what is sent in either direction is gone, over old connections and new ones. */
  swallow(): void {
    this.#swallows = true;
    this.#lost = new Set(this.#sockets);
  }

  /** New connections work again. Those from before lead nowhere for ever, as after a NAT forgot them. */
  recover(): void {
    this.#swallows = false;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    const pass = (act: () => void): void => {
      if (!this.#lost.has(from)) act();
    };
    from.on('data', (bytes) => pass(() => to.write(bytes)));
    from.on('end', () => pass(() => to.end()));
    from.on('error', () => pass(() => to.destroy()));
    from.on('close', () => {
      this.#sockets.delete(from);
      pass(() => to.destroy());
    });
  }
}
