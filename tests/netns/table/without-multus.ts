const noMultus = 'Multus is not involved';

/** The situations of Multus, for networks that have none. */
export const withoutMultus = {
  'network-status written late': noMultus,
  'network-status of the previous sandbox': noMultus,
  'network-status absent': noMultus,
  'network-status names a missing interface': noMultus,
  'network-status omits the network': noMultus,
  'network-status omits the network, interface down': noMultus,
  'network-status omits the network, no interface': noMultus,
  'network-status of the previous sandbox omits the network, no interface': noMultus,
  'network without addresses, network-status confirms it': noMultus,
  'network without addresses, network-status late': noMultus,
  'network without addresses, network-status absent': noMultus,
};
