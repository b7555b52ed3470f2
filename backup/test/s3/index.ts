/** Real S3 servers, and a proxy that injects faults between them and a store. */

export { GoMissing } from "../../../scripts/go/index.ts";
export {
  type AskedRequest,
  FAULTS,
  type Fault,
  type FaultPlan,
  FaultProxy,
  type ProxyCertificate,
} from "./fault-proxy.ts";
export { ACCESS_KEY, type S3Server, SECRET_KEY, startMoto, startVersitygw } from "./s3-server.ts";
export { buildVersitygw } from "./versitygw.ts";
