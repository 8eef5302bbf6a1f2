import { createServer, get } from 'node:http';

/**
 * An application behind a mesh. Asked for `/who`, it calls a server outside of the pod, as applications do, and reports
 * who answered: in the mesh that is the proxy. `/ready` is for the kubelet.
 */
const elsewhere = process.env.ELSEWHERE ?? '';

createServer((request, response) => {
  if (request.url !== '/who') return response.end('ready');
  // a connection of its own each time: one that is kept was made under the rules of its time
  get(elsewhere, { agent: false }, (answer) => answer.pipe(response)).on('error', (error) =>
    response.writeHead(502).end(error.message),
  );
}).listen(8080);
process.on('SIGTERM', () => process.exit(0));
