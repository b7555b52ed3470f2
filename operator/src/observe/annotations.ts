/** What the operator notes on objects, and where. */
export const CONFIG_INDEX = "quoin.dev/config-index";
export const SETTINGS = "quoin.dev/settings";
export const CLUSTER_ID = "quoin.dev/cluster-id";
export const MEMBER_ID = "quoin.dev/member-id";
export const TERM = "quoin.dev/term";
export const VERSION = "quoin.dev/version";
export const REPOSITORY = "quoin.dev/repository";
/** Digest of what was applied: it tells when less is wanted than is there. */
export const APPLIED = "quoin.dev/applied";
/** On the owner's Secret, while its members do not know it yet. */
export const OWNER_PENDING = "quoin.dev/owner-pending";
/** On the identity: the recovery of a lost quorum that is under way, or the last one. */
export const RECOVERY = "quoin.dev/recovery";
/** On a pod of a recovery: which recovery it belongs to, and whether it only reads. */
export const RECOVERY_ATTEMPT = "quoin.dev/recovery-attempt";
export const RECOVERY_STAGE = "quoin.dev/recovery-stage";
/** On the identity: the specification that the operator could follow last. */
export const ACCEPTED_SPEC = "quoin.dev/accepted-spec";
