/** Keeps a pod's namespaces until the pod is deleted. */
process.on('SIGTERM', () => process.exit(0));
setInterval(() => {}, 2 ** 30);
