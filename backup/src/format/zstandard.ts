/**
 * Zstandard of Node's own library, on its threads. Node has it from 22.15 on. An older Node runs everything else of
 * this package, and raises a BackupError (unsupported-node) here, which says nothing about the backup.
 */

import { promisify } from "node:util";
import zlib from "node:zlib";
import { BackupError } from "./backup-error.ts";

type Transform = (
  bytes: Uint8Array,
  options: { readonly maxOutputLength?: number; readonly params?: Readonly<Record<number, number>> },
  callback: (error: Error | null, result: Buffer) => void,
) => void;

const {
  zstdCompress,
  zstdDecompress,
}: Pick<typeof zlib, "crc32"> & {
  readonly zstdCompress?: Transform;
  readonly zstdDecompress?: Transform;
} = zlib;

/** The parameter for the largest window, as the library numbers it. */
const WINDOW_LOG_MAX_PARAMETER = 100;
/** Enough for every frame that we write; a larger window would let a forged frame reserve memory. */
const WINDOW_LOG_MAX = 25;

/** Compresses bytes. */
export const compress: (bytes: Uint8Array) => Promise<Buffer> = (() => {
  if (zstdCompress === undefined) {
    return unsupported;
  }
  const run = promisify(zstdCompress);
  return (bytes) => run(bytes, {});
})();

/** Decompresses bytes. Raises an Error if they are damaged, or become more than the maximum. */
export const decompress: (bytes: Uint8Array, bytesMax: number) => Promise<Buffer> = (() => {
  if (zstdDecompress === undefined) {
    return unsupported;
  }
  const run = promisify(zstdDecompress);
  const params = { [WINDOW_LOG_MAX_PARAMETER]: WINDOW_LOG_MAX };
  return (bytes, bytesMax) => run(bytes, { maxOutputLength: bytesMax, params });
})();

async function unsupported(): Promise<never> {
  const problem = `the frames of backups are compressed with Zstandard, which Node has from 22.15 on, and this is Node ${process.versions.node}`;
  throw new BackupError("unsupported-node", problem);
}
