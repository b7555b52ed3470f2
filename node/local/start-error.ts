/** Why a cluster, or one of its members, did not start or did not continue, for people. */
export class StartError extends Error {}
