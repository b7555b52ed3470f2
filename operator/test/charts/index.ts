/** Rendered charts, and the fields that Kubernetes knows. */
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
