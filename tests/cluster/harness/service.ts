interface Address {
  host: string;
  port: number;
}

/** A Service without a selector, with an EndpointSlice, and with Endpoints for API servers as old as 1.30. */
export function serviceAt(namespace: string, name: string, addresses: Address[]): object[] {
  const [first] = addresses;
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace, name },
      spec: { ports: [{ name: 'https', port: 443 }] },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { namespace, name, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      // an EndpointSlice has one list of ports for all of its addresses
      ports: [{ name: 'https', port: first?.port }],
      endpoints: addresses.map(({ host }) => ({ addresses: [host], conditions: { ready: true } })),
    },
    endpoints(namespace, name, addresses),
  ];
}

/** The Endpoints of a Service, for API servers that do not read EndpointSlices. The first address gives the port. */
function endpoints(namespace: string, name: string, addresses: Address[]): object {
  const [first] = addresses;
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    // tells the controller not to copy these Endpoints into a second EndpointSlice
    metadata: { namespace, name, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    subsets: [
      {
        addresses: addresses.map(({ host }) => ({ ip: host })),
        ports: [{ name: 'https', port: first?.port }],
      },
    ],
  };
}
