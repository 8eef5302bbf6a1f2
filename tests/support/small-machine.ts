/** Loaded before the server (`--import`): the process sees a container of 512 MiB, as that of the manifests. */
process.constrainedMemory = () => 512 * 1024 * 1024;
