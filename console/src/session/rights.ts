/** What a role may do, for hiding what a member would refuse. The member decides; this only keeps the page honest. */

export type Role = "viewer" | "member" | "admin" | "owner";

/** A signed-in user, with the rights that the member reported. */
export interface SessionUser {
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  /** Namespaces of the user; `*` = all. */
  readonly namespaces: readonly string[];
}

/** A token and its user. */
export interface Session {
  readonly token: string;
  readonly user: SessionUser;
}

const ROLES: readonly Role[] = ["viewer", "member", "admin", "owner"];

const EVERY_NAMESPACE = "*";

export function mayWrite({ role }: SessionUser): boolean {
  return role !== "viewer";
}

export function mayAdminister({ role }: SessionUser): boolean {
  return role === "admin" || role === "owner";
}

/** Whether the user may see and change the cluster itself. */
export function mayOperateCluster(user: SessionUser): boolean {
  return mayAdminister(user) && user.namespaces.includes(EVERY_NAMESPACE);
}

/** The roles that the user may give to others. */
export function grantableRoles({ role }: SessionUser): readonly Role[] {
  return ROLES.slice(0, ROLES.indexOf(role) + 1);
}
