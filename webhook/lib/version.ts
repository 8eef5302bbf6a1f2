import manifest from '../../package.json' with { type: 'json' };

/** The version of cni-gate that runs. */
export const { version } = manifest;

/** The image of the server, of this release. */
export const serverImage = `ghcr.io/cni-gate/cni-gate:${version}`;

/** The image of the validator, of this release: what is injected if nothing else is named. */
export const validatorImage = `ghcr.io/cni-gate/cni-gate-validator:${version}`;
