/** Certificates and keys from files. The SDK checks whether they are usable. */

import type { TlsOptions } from "../index.ts";
import { readTextFile } from "./text-file.ts";
import { UsageError } from "./usage-error.ts";

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
 * Reads the files.
 *
 * @returns undefined if no file is given.
 * @throws UsageError if one cannot be read, or a certificate has no key.
 */
export async function readTlsFiles({ ca, cert, key }: TlsFiles): Promise<TlsOptions | undefined> {
  if (ca === undefined && cert === undefined && key === undefined) return undefined;
  if ((cert === undefined) !== (key === undefined)) throw new UsageError("a certificate and its key belong together");
  return { ca: await readIfGiven(ca), certificate: await readIfGiven(cert), key: await readIfGiven(key) };
}

async function readIfGiven(file: string | undefined): Promise<string | undefined> {
  return file === undefined ? undefined : await readTextFile(file);
}
