/** Certificates of clusters: what each pass asks, and what it is answered. */
export type {
  CertificateOutcome,
  CertificatePass,
  CertificateWrite,
  TendCertificates,
} from "./contract.ts";
