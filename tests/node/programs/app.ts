import { createServer, get } from 'node:http';

/**
 * An application in a mesh. On `/who`, it calls a server outside of the pod and returns the answer, which in the mesh
 * is the proxy's. `/ready` is for the kubelet's probe.
 */
const elsewhere = process.env.ELSEWHERE ?? '';

createServer((request, response) => {
  if (request.url !== '/who') return response.end('ready');
  // a new connection for each call, because an existing connection would follow the rules from when it was opened
  get(elsewhere, { agent: false }, (answer) => answer.pipe(response)).on('error', (error) =>
    response.writeHead(502).end(error.message),
  );
}).listen(8080);
process.on('SIGTERM', () => process.exit(0));
