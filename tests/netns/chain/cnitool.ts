import { GoProgram } from '../../support/go-program.ts';

// builds with the Go of Debian 12, 1.19; v1.3.0 needs 1.21
const program = new GoProgram('github.com/containernetworking/cni/cnitool', 'v1.1.2');

/**
 * The CNI project's own tool, which calls plugins by the protocol as a container runtime does: built from its Go
 * module once, and kept in the user's cache.
 */
export async function cnitool(): Promise<string> {
  await program.build();
  return program.path;
}
