/** From a CoordinationCluster to the objects that make it. */
export { dnsNamesOf } from "./certificate.ts";
export { namesOf } from "./names.ts";
export { OverlayError } from "./overlay.ts";
export { renderPodTemplate, templateHashOf } from "./pod-template.ts";
export { type Manifest, type Placement, render, type Settings } from "./render.ts";
