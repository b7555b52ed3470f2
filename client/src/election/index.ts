export { type CampaignOptions, Election, type Leader, Leadership } from "./election.ts";
