/** Tokens and API keys from files. Who may read such a file is up to whoever mounts or writes it. */

import type { SourceCredentials } from "./connection-source.ts";
import { readTextFile } from "./text-file.ts";
import { UsageError } from "./usage-error.ts";

/** Paths of files with secrets; at most one of them. */
export interface SecretFiles {
  readonly tokenFile?: string | undefined;
  readonly apiKeyFile?: string | undefined;
}

/**
 * Makes credentials of the file that is given.
 *
 * @returns undefined when none is given.
 * @throws UsageError when both are given, or there is no API key in the file.
 */
export async function readSecretFiles({ tokenFile, apiKeyFile }: SecretFiles): Promise<SourceCredentials | undefined> {
  if (tokenFile !== undefined && apiKeyFile !== undefined) {
    throw new UsageError("a token file and an API key file exclude each other");
  }
  if (tokenFile !== undefined) return { tokenFile };
  if (apiKeyFile === undefined) return undefined;
  const apiKey = (await readTextFile(apiKeyFile)).trim();
  if (apiKey === "") throw new UsageError(`${apiKeyFile} holds no API key`);
  return { apiKey };
}
