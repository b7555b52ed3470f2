/** Users by their ids, in words that people know. */

export { Person } from "./person.tsx";
