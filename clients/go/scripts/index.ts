export {
  buildGoSdk,
  deriveGoCode,
  GENERATED_FILES,
  GENERATED_FOLDER,
  GO_MODULE_FOLDER,
  goTool,
  PLUGINS,
  STATICCHECK,
} from "./generated-code.ts";
export { packGoModule } from "./go-module.ts";
