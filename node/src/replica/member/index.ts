export type { FoundingBackup } from "./founding-backup.ts";
export { Member } from "./member.ts";
export type { MemberEnd, MemberOptions, MemberPeering, MemberState } from "./member-options.ts";
export { claimedMembers, type MemberList, PeerDirectory } from "./peer-directory.ts";
