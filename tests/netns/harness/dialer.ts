import { createConnection } from 'node:net';

/** Tries the connections in its argument in parallel, and prints their results. */
const dials: { host: string; port: number; from?: string; only?: 'connect' }[] = JSON.parse(
  process.argv[2] ?? '',
);

const results = dials.map(
  ({ host, port, from, only }) =>
    new Promise<number | string>((resolve) => {
      const socket = createConnection({ host, port, ...(from !== undefined && { localAddress: from }) });
      socket.setTimeout(1000);
      if (only === 'connect') socket.on('connect', () => resolve('connected'));
      socket.on('timeout', () => resolve('silence'));
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      socket.on('data', (data) => resolve(Number(/port (\d+)/.exec(data.toString())?.[1])));
    }),
);
process.stdout.write(`${JSON.stringify(await Promise.all(results))}\n`, () => process.exit());
