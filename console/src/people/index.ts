/** Users by their ids, in words that people know. */

export { Person } from "./person.tsx";
export { Owner, Subject } from "./subject.tsx";
