export { type DataDirectory, type DataDirectoryOptions, openDataDirectory } from "./data-directory.ts";
export type { MemberData } from "./member-data.ts";
export type { FillRestoration } from "./member-restore.ts";
