export { confirm } from "./confirmation.ts";
export { askPassword, readPasswordFile } from "./password.ts";
