/** Users and API keys. */

export { AccountsPage } from "./accounts-page.tsx";
