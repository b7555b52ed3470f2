/**
 * Builds published packages from the sources of this repository: JavaScript, declarations, licences of bundled
 * packages, and the tarball. `client/scripts/package.ts` shows how they fit together.
 */

export { withBundler } from "./bundler.ts";
export { writeConnectServices } from "./connect-services.ts";
export { type DeclarationOptions, writeDeclarations } from "./declarations.ts";
export { type Bundle, type BundledPackage, type BundleOptions, bundleJavaScript } from "./javascript.ts";
export { writeLicences } from "./licences.ts";
export type { OwnFiles } from "./own-files.ts";
export { packFolder } from "./pack.ts";
export { repositoryRoot } from "./repository.ts";
export { OLDEST_NODE } from "./runtimes.ts";
