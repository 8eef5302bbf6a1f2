import manifest from '../../package.json' with { type: 'json' };

/** The version of the running cni-gate. */
export const { version } = manifest;

/** The server's image in this release. */
export const serverImage = `ghcr.io/cni-gate/cni-gate:${version}`;

/** The validator's image in this release, which is injected if no image is configured. */
export const validatorImage = `ghcr.io/cni-gate/cni-gate-validator:${version}`;
