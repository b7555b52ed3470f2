/** Certificates of members: an authority of the cluster's own, or what comes from elsewhere. */
export type * from "./contract.ts";
export { tendCertificates } from "./tend.ts";
