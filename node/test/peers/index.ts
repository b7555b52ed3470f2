export { temporaryDirectory, until } from "../harness/index.ts";
export { FakePeerClock } from "./fake-peer-clock.ts";
export {
  CLUSTER_ID,
  type DoubleOptions,
  incarnationOf,
  PeerMemberDouble,
  type ReceivedFrame,
  TOKEN,
} from "./peer-member-double.ts";
export { answerBytes, RawAcceptor } from "./raw-acceptor.ts";
export { frameBytes, helloTo, RawPeer } from "./raw-peer.ts";
export { TestAuthority, whyNoCertificates } from "./test-certificates.ts";
