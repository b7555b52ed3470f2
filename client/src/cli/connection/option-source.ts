/** The connection in the options of the command line. */

import type { ConnectionSource } from "./connection-source.ts";
import { readSecretFiles, type SecretFiles } from "./secret-files.ts";
import { checkTlsFiles, type TlsFiles } from "./tls-files.ts";

/**
 * The options of the connection. Secrets come only in files, because every user of a machine can read program
 * arguments.
 */
export interface ConnectionOptions extends SecretFiles, TlsFiles {
  readonly endpoints?: readonly string[] | undefined;
  /** Name of the context to use. */
  readonly context?: string | undefined;
  /** Whether the selected context need not exist; then the other places name the cluster. */
  readonly mayLackContext?: boolean | undefined;
}

/** @throws UsageError if a file is unusable, or the options contradict each other. */
export async function readOptionSource(options: ConnectionOptions): Promise<ConnectionSource> {
  return {
    endpoints: options.endpoints,
    credentials: await readSecretFiles(options),
    tls: await checkTlsFiles(options),
  };
}
