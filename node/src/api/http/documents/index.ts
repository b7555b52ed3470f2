export { ConsoleFiles } from "./console-files.ts";
export { consoleRouter } from "./console-router.ts";
export { docsPage } from "./docs-page.ts";
export { openApiRoutes } from "./openapi.ts";
export type { ServiceDocument } from "./openapi-document.ts";
export { readReference } from "./reference.ts";
