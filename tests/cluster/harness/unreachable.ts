import { execFileSync } from 'node:child_process';

/* The run's own network: see enter.sh. */

const nowhere = 'nowhere';
let ready = false;

/** Makes a pod's address (10.253.0.0/16) swallow every packet, as on a node that lost its power. */
export function cutOff(address: string): void {
  if (!ready) {
    // a bridge without ports, which asks for no link-layer address, keeps what it gets to itself
    ip('link', 'add', nowhere, 'type', 'bridge');
    ip('link', 'set', nowhere, 'up', 'arp', 'off');
    ready = true;
  }
  ip('route', 'replace', `${address}/32`, 'dev', nowhere, 'table', 'local');
}

/** Lets packets through again: other test files have pods at the same addresses. */
export function restoreAll(): void {
  // the routes go with it
  if (ready) ip('link', 'delete', nowhere);
  ready = false;
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
