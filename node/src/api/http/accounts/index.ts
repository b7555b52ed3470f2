export { accountRoutes } from "./account-routes.ts";
export { tokenExchangeRoute } from "./token-exchange.ts";
