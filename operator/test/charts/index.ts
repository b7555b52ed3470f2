/** The charts as helm renders them, and what Kubernetes knows of what it renders. */
export {
  type ChartName,
  chartFolder,
  findHelm,
  Helm,
  NAMESPACE,
  objectOf,
  RELEASE,
  type RenderedObject,
  valueFilesOf,
} from "./helm.ts";
export { unknownFields } from "./kubernetes-fields.ts";
