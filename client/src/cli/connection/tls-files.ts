/** Certificates and keys from files. The SDK checks whether they are usable. */

import type { TlsOptions } from "../../index.ts";
import { UsageError } from "../errors/index.ts";
import { readTextFile } from "../files/index.ts";

/** Paths of PEM files. */
export interface TlsFiles {
  /** Certificate authorities to trust instead of the system's. */
  readonly ca?: string | undefined;
  /** The client certificate. */
  readonly cert?: string | undefined;
  /** Its private key. */
  readonly key?: string | undefined;
}

/**
 * Checks that the files can be read. The SDK reads them for each connection: a command may run longer than they are valid.
 *
 * @returns undefined if no file is given.
 * @throws UsageError if one cannot be read, or a certificate has no key.
 */
export async function checkTlsFiles({ ca, cert, key }: TlsFiles): Promise<TlsOptions | undefined> {
  if (ca === undefined && cert === undefined && key === undefined) {
    return undefined;
  }
  assertKeyPair({ cert, key });
  for (const file of [ca, cert, key].filter((given) => given !== undefined)) {
    await readTextFile(file);
  }
  return { caFile: ca, certificateFile: cert, keyFile: key };
}

/** @throws UsageError for a certificate without its key, or a key without its certificate. */
export function assertKeyPair({ cert, key }: TlsFiles): void {
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError("a certificate and its key belong together");
  }
}
