/** The signed-in user, and what that user may do. */

export { claimsOf } from "./claims.ts";
export {
  grantableRoles,
  mayAdminister,
  mayOperateCluster,
  mayWrite,
  type Role,
  type Session,
  type SessionUser,
} from "./rights.ts";
export {
  currentToken,
  currentUser,
  isExpired,
  isKept,
  onOtherUser,
  renewed,
  resumeSession,
  setKept,
  signIn,
  signOut,
} from "./session.ts";
