/** Errors of the file system. */

/** Whether the system refused work on a file. */
export function isOfFileSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}
