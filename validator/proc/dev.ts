/** A row of `/proc/net/dev`, which has every interface of the reader's own network namespace. */
export interface DeviceCounters {
  name: string;
  sentBytes: number;
}

/** `net/core/net-procfs.c`: a name, a colon, eight numbers of what was received, then of what was sent. */
export function parseDevices(text: string): DeviceCounters[] {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*([^\s|]+):\s*(\d.*)$/.exec(line);
    if (match?.[1] === undefined) return [];
    return [{ name: match[1], sentBytes: Number(match[2]?.split(/\s+/)[8]) }];
  });
}
