import { convertFormerLog, dropFormerEvidence } from "./former-log.ts";
import { LogFiles } from "./log-files.ts";

/**
 * Opens the log in this data directory, after the conversion of one of the former format; creates it first if `isNew` and
 * there is none. Raises a StoreError: of kind "missing" if there is none, "corruption" if one of the former format is
 * damaged, "locked" if another process has it open.
 */
export async function openLog(directory: string, isNew: boolean): Promise<LogFiles> {
  await convertFormerLog(directory);
  return LogFiles.open(directory, isNew);
}

/** Deletes files that the log does not need. Call it only once the log was judged as whole. */
export function tidyLog(directory: string, files: LogFiles): void {
  files.tidy();
  dropFormerEvidence(directory);
}
