/** The progress of a backup on one line of a terminal: part, bytes, records, and bytes per second. */

import { bar, type ProgressPlace, withProgressLine } from "../output/index.ts";
import { formatSize } from "../text/index.ts";

/** Short enough for a line of 80 characters. */
const BAR_CHARACTERS = 16;

/**
 * Shows the progress, at most a few times a second.
 *
 * @param records what was read, such as `12 rows`.
 * @param totalBytes undefined = not known.
 */
type ShowProgress = (doneBytes: number, records: string, totalBytes?: number) => void;

/**
 * Runs work that shows its progress in a stream of bytes, and removes the line at its end.
 *
 * @param verb the activity, such as `reading`.
 */
export function withBackupProgress<Result>(
  place: ProgressPlace,
  verb: string,
  work: (show: ShowProgress) => Promise<Result>,
): Promise<Result> {
  const { runtime } = place.terminal;
  const startMs = runtime.monotonicMs();
  return withProgressLine(place, (line) =>
    work((doneBytes, records, totalBytes) =>
      line.showOften(() => {
        const seconds = (runtime.monotonicMs() - startMs) / 1_000;
        const rate = seconds > 0 ? `, ${formatSize(Math.round(doneBytes / seconds))}/s` : "";
        const part = totalBytes ? `${bar(Math.min(1, doneBytes / totalBytes), BAR_CHARACTERS)} ` : "";
        return `${verb} ${part}${formatSize(doneBytes)}${rate}, ${records}`;
      }),
    ),
  );
}

/** Passes the same bytes on, and counts each chunk when it arrives. */
export async function* counted(
  bytes: AsyncIterable<Uint8Array>,
  onBytes: (count: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of bytes) {
    onBytes(chunk.length);
    yield chunk;
  }
}
