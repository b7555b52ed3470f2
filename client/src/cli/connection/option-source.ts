/** The connection in the options of the command line. */

import type { CONNECTION_OPTIONS, OptionsOf } from "../arguments/index.ts";
import type { ConnectionSource } from "./connection-source.ts";
import { readSecretFiles } from "./secret-files.ts";
import { checkTlsFiles } from "./tls-files.ts";

/** The options of the command line that select the cluster. */
export type ConnectionOptions = OptionsOf<typeof CONNECTION_OPTIONS> & {
  /** Whether the selected context need not exist; then the other places name the cluster. */
  readonly mayLackContext?: boolean;
};

/** @throws UsageError if a file is unusable, or the options contradict each other. */
export async function readOptionSource(options: ConnectionOptions): Promise<ConnectionSource> {
  return {
    endpoints: options.endpoints,
    credentials: await readSecretFiles(options),
    tls: await checkTlsFiles(options),
  };
}
