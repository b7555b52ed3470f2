/**
 * The functions of the package `yaml` that quoinctl uses, for `import()` of this file. The package itself is CommonJS,
 * and a bundle gives `import()` of CommonJS no names.
 */

export { parseDocument, stringify } from "yaml";
