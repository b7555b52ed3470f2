/** Certificates of members, from the cluster's own authority or from elsewhere. */
export type * from "./contract.ts";
export { planCertificates } from "./plan-certificates.ts";
