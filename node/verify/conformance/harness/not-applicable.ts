/** Thrown by an entry that is not possible at this endpoint; the message has the reason. */
export class NotApplicable extends Error {}
