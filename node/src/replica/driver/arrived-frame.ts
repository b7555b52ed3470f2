/** A frame of another member, decoded and checked. */

import type {
  Forward,
  Forwarded,
  ForwardRefused,
  LeaderReply,
  LeaderRequest,
  LeaderTick,
  MemberReport,
} from "../../peers/index.ts";
import type { Message } from "../../raft/index.ts";

export type ArrivedFrame = { readonly peer: number; readonly bytes: number } & (
  | { readonly kind: "message"; readonly message: Message }
  | { readonly kind: "tick"; readonly tick: LeaderTick }
  | { readonly kind: "report"; readonly report: MemberReport }
  | { readonly kind: "question"; readonly request: LeaderRequest }
  | { readonly kind: "reply"; readonly reply: LeaderReply }
  /** `arrivedMs` is only for traces; 0 without them. */
  | { readonly kind: "forward"; readonly boot: number; readonly forward: Forward; readonly arrivedMs: number }
  | { readonly kind: "forwarded"; readonly forwarded: Forwarded }
  | { readonly kind: "refused"; readonly refused: ForwardRefused }
);
