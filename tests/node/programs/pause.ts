/** Runs until the pod is deleted, so that the pod's Linux namespaces continue to exist. */
process.on('SIGTERM', () => process.exit(0));
setInterval(() => {}, 2 ** 30);
