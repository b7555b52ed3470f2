/** How to reach the cluster, as the options of the command line say. */

import type { ConnectionSource } from "./connection-source.ts";
import { readSecretFiles, type SecretFiles } from "./secret-files.ts";
import { readTlsFiles, type TlsFiles } from "./tls-files.ts";

/** The options that say it. Secrets are given as files only: every user of a machine can read the arguments of programs. */
export interface ConnectionOptions extends SecretFiles, TlsFiles {
  readonly endpoints?: readonly string[] | undefined;
  /** Name of the context to use. */
  readonly context?: string | undefined;
}

/** @throws UsageError when a file cannot be used, or the options contradict each other. */
export async function readOptionSource(options: ConnectionOptions): Promise<ConnectionSource> {
  return {
    endpoints: options.endpoints,
    credentials: await readSecretFiles(options),
    tls: await readTlsFiles(options),
  };
}
