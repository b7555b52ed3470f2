export { FieldReader, type Fields } from "./document.ts";
export { isOfFileSystem, statusOf, unusable } from "./file-error.ts";
export { withFileLock } from "./file-lock.ts";
export { assertNewFile, writeNewFile } from "./new-file.ts";
export { notPrivate, readPossiblyPrivateFile, replacePrivateFile, writePrivateFile } from "./private-file.ts";
export { readTextFile } from "./text-file.ts";
