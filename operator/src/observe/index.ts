/** From the API server and the members to what the planner looks at. */
export {
  CLUSTER_ID,
  CONFIG_INDEX,
  MEMBER_ID,
  REPOSITORY,
  SETTINGS,
  TERM,
  VERSION,
} from "./annotations.ts";
export { emptyMemory, type Memory } from "./memory.ts";
export { type Observation, Observer, setReference } from "./observer.ts";
export { ownerSecretName } from "./reader.ts";
export { adminEndpointOf, type EndpointOf } from "./reports.ts";
export { settingsNote } from "./set-view.ts";
export { type SetManifest, textsOf } from "./wanted-objects.ts";
export { durableMetadata, preconditionOf, signed, type Wish, wishKey } from "./wish.ts";
