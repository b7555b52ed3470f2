/** Random values for the tests of every package. */
export { anyText } from "./text.ts";
