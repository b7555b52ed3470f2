/** The state of the cluster. */

export { OverviewPage } from "./overview-page.tsx";
