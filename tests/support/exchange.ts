import type { ClientRequest } from 'node:http';

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Sends a request with a body, and reads the whole answer. */
export function exchange(request: ClientRequest, body: string | Buffer): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  request.on('error', reject);
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () =>
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: Buffer.concat(chunks).toString(),
      }),
    );
  });
  request.end(body);
  return promise;
}

/** The request line and headers of a call whose body has this length. */
export const head = (path: string, length: number): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
