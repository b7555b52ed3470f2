/** The user's own account, and the settings of the cluster. */

export { SettingsPage } from "./settings-page.tsx";
