/** Builds what is published besides the SDK. `main.ts` builds all of it. */

export { packCharts } from "./charts.ts";
export { buildExecutable } from "./executable.ts";
export { ADDON, bundlePrograms, MEMBER, PROGRAMS } from "./programs.ts";
export { SBOM_FILE, writeSbom } from "./sbom.ts";
export { packServer } from "./server-package.ts";
