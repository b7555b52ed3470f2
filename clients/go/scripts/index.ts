export { deriveGoCode, GENERATED_FILES, GENERATED_FOLDER, GO_MODULE_FOLDER, goTool } from "./generated-code.ts";
export { packGoModule } from "./go-module.ts";
