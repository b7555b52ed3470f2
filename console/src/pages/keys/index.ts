/** Keys and their values. */

export { KeysPage } from "./keys-page.tsx";
