export { type GlobalOptions, Session } from "./session.ts";
