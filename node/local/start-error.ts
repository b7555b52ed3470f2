/** Why a cluster, or one of its members, did not start or go on, for people. */
export class StartError extends Error {}
