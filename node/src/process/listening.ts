/** Listening at the addresses in flags: if an address is not available, the error names its flag. */

import { once } from "node:events";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { ConnectionLimiter } from "../api/connections/index.ts";
import { type ClientAddresses, closeHttpServer, createHttpServer } from "../api/http/index.ts";
import { UsageError } from "../command-line/index.ts";
import { listenAt, ServerTls, type ServerTlsFilePaths } from "../peers/index.ts";
import { InvariantViolation } from "../primitives/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { formatListen } from "./configuration.ts";
import type { Listen } from "./flag-values.ts";

export interface Stoppable {
  /** Finishes running requests, for at most this many milliseconds. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Resolves to the result of `listen`. If `listen` rejects, rejects with a UsageError that names the flag and the port.
 */
export async function bound<T>(flag: string, at: Listen, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    if (error instanceof InvariantViolation) {
      throw error;
    }
    const message = error instanceof Error ? error.message : String(error);
    // The gRPC library reports the cause only in its message.
    const problem = message.includes("EADDRINUSE") ? `port ${at.port} is in use already` : message;
    throw new UsageError(`${flag} ${formatListen(at)}: ${problem}`, { cause: error });
  }
}

/** The TLS setting for clients, if there is one. Rejects with a UsageError that names the wrong flags and files. */
export async function openTls(paths: ServerTlsFilePaths | null, logger: Logger): Promise<ServerTls | null> {
  try {
    return paths === null ? null : await ServerTls.open(paths, logger);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${flagsOf(paths, message)}: ${message}`, { cause: error });
  }
}

/** The flags of the files that the message names, or all given ones if it names none. */
function flagsOf(paths: ServerTlsFilePaths | null, message: string): string {
  const flags = new Map([
    ["--tls-cert", paths?.certificate],
    ["--tls-key", paths?.key],
    ["--tls-client-ca", paths?.clientAuthorities ?? undefined],
  ]);
  const given = [...flags].filter((flag): flag is [string, string] => flag[1] !== undefined);
  const named = given.filter(([, path]) => message.includes(path));
  return (named.length > 0 ? named : given).map(([flag]) => flag).join(", ");
}

/**
 * Serves HTTP, in plain text without `tls`, and returns the address. With `clients`, reads what proxies report about
 * connections.
 */
export async function listenHttp(
  application: RequestListener,
  flag: string,
  at: Listen,
  {
    tls,
    connectionLimiter,
    clients,
  }: {
    readonly tls: ServerTls | null;
    readonly connectionLimiter: ConnectionLimiter;
    readonly clients?: ClientAddresses;
  },
): Promise<Stoppable & { readonly address: string }> {
  const server = createHttpServer(application, { tls, ...(clients === undefined ? {} : { clients }) });
  connectionLimiter.guard(server);
  await bound(flag, at, () => {
    listenAt(server, at.host, at.port);
    return once(server, "listening");
  });
  const { port } = server.address() as AddressInfo;
  return {
    address: formatListen({ host: at.host, port }),
    stop: (graceMs) => closeHttpServer(server, graceMs),
  };
}
