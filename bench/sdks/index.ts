/** `npm run bench -- sdks`: what a client of an SDK costs. */

export { type SdksOptions, sdksCommand } from "./options.ts";
export { runSdks, SdksError } from "./run.ts";
