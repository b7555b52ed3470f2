/** Builds what is published besides the SDK. `main.ts` builds all of it. */

export { packCharts } from "./charts.ts";
export { buildExecutable } from "./executable.ts";
export { addon, bundlePrograms, member, programs } from "./programs.ts";
export { sbomFile, writeSbom } from "./sbom.ts";
export { packServer } from "./server-package.ts";
