import { ask, eventually } from './api.mts';

// the images of Kubernetes have no program that a health check could run
await eventually(() => ask('GET', '/readyz'));
console.log('the API server is ready');
