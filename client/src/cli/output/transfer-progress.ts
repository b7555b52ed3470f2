/** A progress bar on the standard error for transfers of several calls. */

import { formatSize } from "../text/index.ts";
import { type ProgressPlace, withProgressLine } from "./progress-line.ts";

const BAR_CHARACTERS = 30;

/**
 * Runs a transfer, and shows its progress.
 *
 * @param verb the activity, such as `writing`.
 * @param transfer reports its progress in bytes.
 */
export async function withTransferProgress<Result>(
  place: ProgressPlace,
  verb: string,
  transfer: (onProgress: (doneBytes: number, totalBytes: number) => void) => Promise<Result>,
): Promise<Result> {
  return await withProgressLine(place, (line) =>
    transfer((done, total) => {
      if (total > 0) {
        line.show(`${verb} ${bar(done / total)} ${formatSize(done)} of ${formatSize(total)}`);
      }
    }),
  );
}

/** A bar with the percentage, for a part from 0 to 1. */
export function bar(part: number, characters: number = BAR_CHARACTERS): string {
  const full = Math.floor(part * characters);
  const percent = `${Math.floor(part * 100)}%`.padStart(4);
  return `[${"#".repeat(full)}${"-".repeat(characters - full)}] ${percent}`;
}
