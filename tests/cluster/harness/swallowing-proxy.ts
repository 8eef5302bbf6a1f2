import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy to the API server that can drop all bytes: no connection is refused or closed, and nothing arrives. */
export class SwallowingProxy {
  readonly #server;
  readonly #sockets = new Set<Socket>();
  #lost = new Set<Socket>();
  #swallows = false;

  private constructor(target: URL) {
    // the proxy ends one side of a connection only when the other side has ended
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

  /** From now on, drops all bytes in both directions, on old connections and on new ones. */
  swallow(): void {
    this.#swallows = true;
    this.#lost = new Set(this.#sockets);
  }

  /** New connections work again. Old connections still carry nothing, as if a NAT gateway had lost their state. */
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
