export { memberPodLabel, roleReportOf } from "./member-pod.ts";
export { PodLabel } from "./pod-label.ts";
