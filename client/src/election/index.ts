export { type CampaignOptions, Election, Leadership } from "./election.ts";
export type { Leader } from "./leader-view.ts";
