/**
 * Whether a Host header names this machine by a name or address of loopback, with any port: an SSH tunnel has its own.
 */
export const isLoopbackHost = (host: string | undefined): boolean =>
  host !== undefined && /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i.test(host);
