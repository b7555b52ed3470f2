/** Starts a server at one address of this machine, or at every address. */
import type { Server } from "node:net";

/** The host that means every IPv6 and IPv4 address; only the IPv4 ones if the kernel has no IPv6. */
export const EVERY_ADDRESS = "*";

/** Starts to listen. The server emits `listening`, or `error` if the address is not available. */
export function listenAt(server: Server, host: string, port: number): void {
  if (host === EVERY_ADDRESS) {
    // Without a host Node tries `::`, which accepts both families, and then `0.0.0.0`.
    server.listen(port);
  } else {
    server.listen(port, host);
  }
}
