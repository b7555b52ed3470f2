/** The manual as a site, made by VitePress: see `main.ts`. */

export { Manual } from "./manual.ts";
export { siteSettings } from "./settings.ts";
