/** The manual as a site, made by VitePress: see `main.ts`. */

export { siteSettings } from "./settings.ts";
