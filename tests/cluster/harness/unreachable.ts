import { execFileSync } from 'node:child_process';

/* Changes routes of the run's own network namespace, which enter.sh sets up. */

const nowhere = 'nowhere';
let ready = false;

/** Makes packets to a pod's address (10.253.0.0/16) disappear, as if its node had lost power. */
export function cutOff(address: string): void {
  if (!ready) {
    // a bridge without ports and without ARP drops all packets that are routed to it
    ip('link', 'add', nowhere, 'type', 'bridge');
    ip('link', 'set', nowhere, 'up', 'arp', 'off');
    ready = true;
  }
  ip('route', 'replace', `${address}/32`, 'dev', nowhere, 'table', 'local');
}

/** Removes all such routes, because pods of other test files may have the same addresses. */
export function restoreAll(): void {
  // the kernel removes the routes together with the bridge
  if (ready) ip('link', 'delete', nowhere);
  ready = false;
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
