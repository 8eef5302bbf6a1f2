import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A registry of OCI artifacts on loopback, for one client that pushes. */
export interface Registry {
  /** host:port */
  address: string;
  /** What was pushed, by digest. */
  contents: Map<string, Buffer>;
  /** Digests of manifests, by repository:tag. */
  tags: Map<string, string>;
  close(): void;
}

/** Starts one that keeps everything in memory: the part of the distribution specification with which Helm pushes. */
export async function startRegistry(): Promise<Registry> {
  const contents = new Map<string, Buffer>();
  const tags = new Map<string, string>();
  const keep = async (request: IncomingMessage): Promise<string> => {
    const body = await buffer(request);
    const digest = `sha256:${createHash('sha256').update(body).digest('hex')}`;
    contents.set(digest, body);
    return digest;
  };
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://registry');
    const [, repository = '', kind = '', name = ''] =
      /^\/v2\/(.+)\/(blobs|manifests)\/(.+)$/.exec(pathname) ?? [];
    if (request.method === 'PUT') {
      const digest = await keep(request);
      if (kind === 'manifests') tags.set(`${repository}:${name}`, digest);
      response.writeHead(201, { 'docker-content-digest': digest, location: pathname }).end();
    } else if (request.method === 'POST') {
      response.writeHead(202, { location: `/v2/${repository}/blobs/uploads/1` }).end();
    } else {
      const digest = tags.get(`${repository}:${name}`) ?? name;
      const content = contents.get(digest);
      if (content === undefined) return response.writeHead(pathname === '/v2/' ? 200 : 404).end();
      const type = 'application/vnd.oci.image.manifest.v1+json';
      response.writeHead(200, {
        'content-length': content.length,
        'content-type': kind === 'manifests' ? type : 'application/octet-stream',
        'docker-content-digest': digest,
      });
      response.end(request.method === 'HEAD' ? undefined : content);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    contents,
    tags,
    close: () => server.close(),
  };
}
