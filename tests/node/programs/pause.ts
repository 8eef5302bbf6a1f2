/** Holds a pod's namespaces until the pod is taken away. */
process.on('SIGTERM', () => process.exit(0));
setInterval(() => {}, 2 ** 30);
