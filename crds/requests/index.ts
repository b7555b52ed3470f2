/** What is asked of the API server when its definition of CoordinationCluster is tried out. */
export { ACCEPTED, NAMES, PRODUCTION, REFUSED, type RefusedRequest } from "./requests.ts";
