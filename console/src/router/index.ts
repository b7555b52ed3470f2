/** Which view the address of the page names. */

export { formatRoute, type Route } from "./route.ts";
export { currentRoute, navigate, replaceRoute } from "./router.ts";
