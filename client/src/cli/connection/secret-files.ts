/** Tokens and API keys from files. The party that mounts or writes such a file decides who can read it. */

import type { Credentials } from "../../index.ts";
import { UsageError } from "../errors/index.ts";
import { readTextFile } from "../files/index.ts";

/** Paths of files with secrets; at most one of them. */
export interface SecretFiles {
  readonly tokenFile?: string | undefined;
  readonly apiKeyFile?: string | undefined;
}

/**
 * Creates credentials from the given file.
 *
 * @returns undefined if none is given.
 * @throws UsageError if both are given, or the file has no API key.
 */
export async function readSecretFiles({ tokenFile, apiKeyFile }: SecretFiles): Promise<Credentials | undefined> {
  assertOneSecret({ tokenFile, apiKeyFile });
  if (tokenFile !== undefined) {
    return { tokenFile };
  }
  if (apiKeyFile === undefined) {
    return undefined;
  }
  const apiKey = (await readTextFile(apiKeyFile)).trim();
  if (apiKey === "") {
    throw new UsageError(`${apiKeyFile} holds no API key`);
  }
  return { apiKey };
}

/** @throws UsageError if both files are given. */
export function assertOneSecret({ tokenFile, apiKeyFile }: SecretFiles): void {
  if (tokenFile !== undefined && apiKeyFile !== undefined) {
    throw new UsageError("a token file and an API key file exclude each other");
  }
}
