/** Loaded before the server (`--import`), so that the process sees the memory limit of the manifests, 512 MiB. */
process.constrainedMemory = () => 512 * 1024 * 1024;
