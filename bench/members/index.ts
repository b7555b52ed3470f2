/** Members that can be killed, started again and replaced; what each of them uses; and steady puts beside other work. */

export { type MemberSample, sampleMember } from "./member-sample.ts";
export { type Backup, MEMBERS, Members, type Replacement, type Work } from "./members.ts";
export { type PutDelays, SteadyPuts } from "./steady-puts.ts";
