import { createServer as createHttp } from 'node:http';
import { connect, createServer } from 'node:net';

/**
 * Stands in for linkerd's proxy on its ports. A connection that is redirected to 4143 is forwarded to the application;
 * a connection from the application ends here, at 4140.
 */
createHttp((_, response) => response.end('the proxy')).listen(4140);
createServer((incoming) => {
  const application = connect(8080, '127.0.0.1');
  incoming.pipe(application).pipe(incoming);
  incoming.on('error', () => application.destroy());
  application.on('error', () => incoming.destroy());
}).listen(4143);
process.on('SIGTERM', () => process.exit(0));
