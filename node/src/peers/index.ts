export type { Forward, Forwarded, ForwardedAttempt, ForwardRefused } from "./forward-codec.ts";
export { type Frame, FrameError } from "./frame.ts";
export { FrameType, type LinkKind } from "./frame-type.ts";
export type {
  AcceptorView,
  Answer,
  Hello,
  HelloRefusal,
  IdentityRefusal,
  PeerIdentity,
  SelfDescription,
  VersionRange,
} from "./hello.ts";
export type { JoinAnswer, JoinRequest, PeerMember } from "./join-codec.ts";
export type { PeerLimits } from "./limits.ts";
export type { PeerClock } from "./peer-clock.ts";
export type { ConnectedPeer, PeerHandler, PeerLog } from "./peer-handler.ts";
export { PeerTransport, type PeerTransportOptions } from "./peer-transport.ts";
export type { SnapshotReceiver } from "./snapshot-receiver.ts";
export type { TlsFilePaths } from "./tls-files.ts";
