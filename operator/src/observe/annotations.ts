/** Annotations that the operator writes on objects. */
export const CONFIG_INDEX = "quoin.dev/config-index";
export const SETTINGS = "quoin.dev/settings";
export const CLUSTER_ID = "quoin.dev/cluster-id";
export const MEMBER_ID = "quoin.dev/member-id";
export const TERM = "quoin.dev/term";
export const VERSION = "quoin.dev/version";
export const REPOSITORY = "quoin.dev/repository";
/** Digest of what was last applied. It shows when a field is no longer wanted. */
export const APPLIED = "quoin.dev/applied";
/** On the owner's Secret, while the members do not know its content yet. */
export const OWNER_PENDING = "quoin.dev/owner-pending";
/** On the identity: the present recovery of a lost quorum, or the last one. */
export const RECOVERY = "quoin.dev/recovery";
/** On a pod of a recovery: the id of the recovery, and whether the pod only reads. */
export const RECOVERY_ATTEMPT = "quoin.dev/recovery-attempt";
export const RECOVERY_STAGE = "quoin.dev/recovery-stage";
/** On the identity: the last specification that the operator accepted. */
export const LAST_ACCEPTED_SPECIFICATION = "quoin.dev/accepted-spec";
