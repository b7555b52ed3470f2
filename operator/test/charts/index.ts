/** The charts as helm renders them, and what Kubernetes knows of what it renders. */
export {
  chartFolder,
  Helm,
  helmOrSkip,
  NAMESPACE,
  objectOf,
  type RenderedObject,
  valueFilesOf,
} from "./helm.ts";
export { unknownFields } from "./kubernetes-fields.ts";
