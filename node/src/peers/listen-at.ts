/** Where a server listens: at one address of this machine, or at every address. */
import type { Server } from "node:net";

/** The host that stands for every address, of IPv6 and of IPv4; where the kernel has no IPv6, for those of IPv4. */
export const EVERY_ADDRESS = "*";

/** Begins to listen. The server emits `listening`, or `error` if the address is not available. */
export function listenAt(server: Server, host: string, port: number): void {
  if (host === EVERY_ADDRESS) {
    // Without a host Node tries `::`, which takes connections of both families, and then `0.0.0.0`.
    server.listen(port);
  } else {
    server.listen(port, host);
  }
}
